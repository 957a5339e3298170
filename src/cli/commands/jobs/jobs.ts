import {
  type Client,
  type Job,
  type JobFilter,
  type JobSummary,
  SignalboxError,
  type Status,
  type Step,
} from "../../../client/client.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { canConfirm, confirm } from "../../terminal/confirm.ts";
import { cancelNote, jobState } from "../../terminal/jobState.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { age, duration, formatOf, percent, print, rowLines, section } from "../../terminal/words.ts";
import { type ListOptions, printList, printNote } from "../list.ts";

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

/** The options of a list besides the filters of all commands. */
export interface SearchOption {
  readonly search?: string;
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

/** Returns the filter without fields that are undefined, which deleteAll refuses. */
const setFields = (filter: JobFilter): object =>
  Object.fromEntries(Object.entries(filter).filter(([, value]) => value !== undefined));

export const isFiltered = (filter: JobFilter): boolean => Object.values(filter).some((value) => value !== undefined);

/** Returns the displayed state of a step: its status, or `stale`. */
const stateOf = ({ status, stale }: { status: Status; stale: boolean }): string => (stale ? "stale" : status);

const COLUMNS: readonly Column<JobSummary>[] = [
  { title: "JOB ID", of: ({ jobId }) => jobId, optional: true },
  { title: "NAME", of: ({ name }) => name, instead: ({ jobId }) => jobId, least: 8 },
  { title: "STATUS", of: jobState, format: (job) => formatOf(jobState(job)) },
  { title: "DONE", of: ({ progress }) => percent(progress), right: true },
  { title: "AGE", of: ({ createdAt }) => age(createdAt), right: true },
  { title: "MESSAGE", of: ({ message }) => message, least: 8 },
];

/** The fields that the table needs. */
const SHOWN = ["name", "status", "stale", "cancel", "progress", "createdAt", "message"] as const;

/**
 * `jobs list`: prints jobs, newest first.
 * @throws CommandError as `withService` does
 */
export function listJobs(
  env: NodeJS.ProcessEnv,
  options: ServiceOptions & FilterOptions & SearchOption & ListOptions,
): Promise<void> {
  const filter = { ...filterOf(options), search: options.search };
  const fields = options.json ? undefined : SHOWN;
  return withService(env, options, ({ client }) =>
    printList<JobSummary>(
      options,
      async (page) => {
        const { jobs, nextCursor } = await client.jobs.list({ ...filter, ...page, ...(fields && { fields }) });
        return { rows: jobs, nextCursor };
      },
      COLUMNS,
      "No jobs match.",
    ),
  );
}

/** `jobs get ID` */
export function getJob(
  env: NodeJS.ProcessEnv,
  jobId: string,
  options: ServiceOptions & { readonly steps?: boolean; readonly json?: boolean },
): Promise<void> {
  return withService(env, options, async ({ client }) => {
    const job = await client.jobs.get(jobId, options.steps ? { include: "steps" } : {});
    print(options.json ? [cleanJson(job)] : jobLines(job));
  });
}

function jobLines(job: Job): string[] {
  const { progress, currentStep, createdAt, updatedAt, lastReportAt, cancel } = job;
  const { steps, input, metadata, output } = job;
  const gates = job.waitingFor.join(", ") || null;
  return [
    ...rowLines([
      ["Job", job.jobId],
      ["Name", job.name],
      ["Description", job.description],
      ["Status", statusLine(job)],
      ["Reason", cancel?.reason ?? null],
      ["Progress", percent(progress)],
      ["Message", job.message],
      ["Step", currentStep && `${currentStep.stepName} (${percent(currentStep.progress)})`],
      ["Waiting for", gates],
      ["Created", `${createdAt} (${age(createdAt)} ago)`],
      ["Updated", `${updatedAt} (${age(updatedAt)} ago)`],
      ["Last report", lastReportAt && `${lastReportAt} (${age(lastReportAt)} ago)`],
    ]),
    ...(steps ? ["", ...(steps.length > 0 ? tableLines(steps, STEP_COLUMNS) : ["The job has no steps."])] : []),
    ...section("Input", input),
    ...section("Metadata", metadata),
    ...section("Output", output),
  ];
}

function statusLine(job: Job): string {
  const { status, stale, cancel } = job;
  const details = [stale ? "without a report for too long (stale)" : null, cancelNote(job)].filter(Boolean);
  return [status === "failed" && cancel ? "failed (cancelled)" : status, ...details].join(", ");
}

const STEP_COLUMNS: readonly Column<Step>[] = [
  { title: "STEP", of: ({ stepKey }) => stepKey, optional: true },
  { title: "NAME", of: ({ stepName }) => stepName, least: 8 },
  { title: "STATUS", of: stateOf, format: (step) => formatOf(stateOf(step)) },
  { title: "DONE", of: ({ progress }) => percent(progress), right: true },
  { title: "TRIES", of: ({ attempts }) => String(attempts) },
  { title: "TOOK", of: (step) => (step.status === "running" ? age(step.startedAt) : took(step)) },
  { title: "MESSAGE", of: ({ message }) => message, least: 8 },
];

const took = ({ startedAt, updatedAt }: Step) => duration(Date.parse(updatedAt) - Date.parse(startedAt));

/** `jobs cancel ID`: requests that a job be cancelled, and says so. */
export function cancelJob(
  env: NodeJS.ProcessEnv,
  jobId: string,
  options: ServiceOptions & { readonly reason?: string; readonly force?: boolean; readonly json?: boolean },
): Promise<void> {
  const { reason, force, json } = options;
  return withService(env, options, async ({ client }) => {
    const job = await client.jobs.cancel(jobId, { ...(reason !== undefined && { reason }), ...(force && { force }) });
    const done = force ? `${jobId} is cancelled.` : `Cancellation of ${jobId} is requested.`;
    print([json ? cleanJson(job) : cleanLine(done)]);
  });
}

/**
 * `jobs delete`: deletes the named jobs, or, after confirmation, those that match the filter, or all of them with `all`.
 * @throws CommandError unless the jobs are given in exactly one way, and if the deletion is not confirmed
 */
export function deleteJobs(
  env: NodeJS.ProcessEnv,
  jobIds: readonly string[],
  options: ServiceOptions & FilterOptions & { readonly all?: boolean; readonly yes?: boolean },
): Promise<void> {
  const filter = filterOf(options);
  const ways = [jobIds.length > 0, isFiltered(filter), options.all === true].filter(Boolean);
  if (ways.length !== 1) {
    throw new CommandError(
      EXIT.usage,
      "Select jobs in one way: by ids, by filters such as --status failed, or with --all.",
    );
  }
  return withService(env, options, async ({ client }) => {
    if (jobIds.length > 0) return deleteNamed(client, jobIds);
    const count = await countUpTo(client, filter);
    if (count === 0) return printNote("No jobs match: nothing was deleted.");
    const question = `Delete ${count > MOST ? `more than ${MOST} jobs` : jobsInWords(count)}, with their steps?`;
    if (!options.yes && !canConfirm())
      throw new CommandError(EXIT.usage, `${question} There is no terminal to confirm it: pass --yes.`);
    if (!options.yes) await confirm(question, "Nothing was deleted.");
    const { deleted } = await client.jobs.deleteAll(isFiltered(filter) ? setFields(filter) : { all: true });
    print([`deleted ${jobsInWords(deleted)}`]);
  });
}

async function deleteNamed(client: Client, jobIds: readonly string[]): Promise<void> {
  const missing: string[] = [];
  for (const jobId of jobIds) {
    try {
      await client.jobs.delete(jobId);
      print([`deleted ${cleanLine(jobId)}`]);
    } catch (error) {
      if (!(error instanceof SignalboxError) || error.code !== "job_not_found") throw error;
      missing.push(jobId);
    }
  }
  if (missing.length > 0) throw new CommandError(EXIT.service, `These jobs do not exist: ${missing.join(", ")}.`);
}

const MOST = 1_000;
const jobsInWords = (count: number) => (count === 1 ? "1 job" : `${count} jobs`);

/** Returns the number of matching jobs, at most MOST + 1. */
async function countUpTo(client: Client, filter: JobFilter): Promise<number> {
  const { jobs, nextCursor } = await client.jobs.list({ ...filter, limit: MOST, fields: ["status"] });
  return nextCursor === null ? jobs.length : MOST + 1;
}
