import type { Command } from "commander";
import type { JobFilter, Status } from "../../../client/client.ts";
import { choicesOption, pair, timeOrAge } from "../../arguments.ts";
import { CommandError, EXIT } from "../../exit.ts";

/** Adds the filters of jobs. A job must match all of those given. */
export function withFilters(command: Command): Command {
  const given = new Set<string>();
  for (const name of ["stale", "no-stale"]) {
    command.on(`option:${name}`, () => {
      // commander does not detect a conflict of two options that set the same value.
      if (given.add(name).size > 1) command.error("error: option '--stale' cannot be used with option '--no-stale'");
    });
  }
  return command
    .addOption(
      choicesOption("--status <status>", "only jobs in this status", [
        "running",
        "completed",
        "failed",
        "stale",
        "cancelled",
      ]),
    )
    .option("--name <text>", "only jobs whose name starts with this text (case-insensitive)")
    .option("--job-id <text>", "only jobs whose id starts with this text")
    .option("--metadata <key=value>", "only jobs with this metadata value (repeatable)", pair)
    .option("--stale", "only running jobs without a report for too long")
    .option("--no-stale", "only jobs that are not stale")
    .option(
      "--created-from <time>",
      "only jobs created at this time or later, such as 2026-03-01, yesterday or 2h",
      timeOrAge,
    )
    .option("--created-before <time>", "only jobs created before this time", timeOrAge)
    .option("--updated-from <time>", "only jobs updated at this time or later", timeOrAge)
    .option("--updated-before <time>", "only jobs updated before this time", timeOrAge);
}

/** The options that filter jobs. */
export interface FilterOptions {
  /** `stale` stands for running jobs that are stale, and `cancelled` for failed jobs that were cancelled. */
  readonly status?: readonly (Status | "stale" | "cancelled")[];
  readonly name?: string;
  readonly jobId?: string;
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
  readonly stale?: boolean;
  readonly createdFrom?: string;
  readonly createdBefore?: string;
  readonly updatedFrom?: string;
  readonly updatedBefore?: string;
}

/**
 * @throws CommandError for `--status stale` or `--status cancelled` beside another status, and for `--status stale
 * --no-stale`
 */
export function filterOf(options: FilterOptions): JobFilter {
  const { name, jobId, metadata, createdFrom, createdBefore, updatedFrom, updatedBefore } = options;
  const special = (["stale", "cancelled"] as const).find((one) => options.status?.includes(one));
  if (special && (new Set(options.status).size > 1 || (special === "stale" && options.stale === false))) {
    const conflict = special === "stale" ? "another --status or with --no-stale" : "another --status";
    throw new CommandError(
      EXIT.usage,
      `--status ${special} cannot be used with ${conflict}: run one command for each.`,
    );
  }
  const status = special ? undefined : (options.status as readonly Status[] | undefined);
  const stale = special === "stale" ? true : options.stale;
  const cancelled = special === "cancelled" ? true : undefined;
  const times = { createdFrom, createdBefore, updatedFrom, updatedBefore };
  return { status, name, jobId, metadata, stale, cancelled, ...times };
}

export const isFiltered = (filter: JobFilter): boolean => Object.values(filter).some((value) => value !== undefined);
