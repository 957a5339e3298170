import type { Command } from "commander";
import type { FilterOptions, SearchOption } from "../../commands/jobs/jobs.ts";
import type { WatchOptions } from "../../commands/jobs/watchJobs.ts";
import type { ListOptions } from "../../commands/list.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { choicesOption, listCommand, pair, serviceCommand, timeOrAge } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";
import { addReports } from "./report.ts";

/** `jobs …` */
export function addJobs(program: Command, environment: Environment): void {
  const jobs = program.command("jobs").description("List, read, watch, report, cancel and delete jobs.");
  withExamples(jobs, "signalbox jobs list --status failed", "signalbox jobs watch report-7");

  const list = jobs
    .command("list")
    .description("List jobs, newest first.")
    .option("--search <text>", "only jobs with these words in the name, or whose id or name starts with this text")
    .action(async (options: ServiceOptions & FilterOptions & SearchOption & ListOptions) => {
      const { listJobs } = await import("../../commands/jobs/jobs.ts");
      await listJobs(await environment(), options);
    });
  withExamples(
    listCommand(withFilters(list)),
    "signalbox jobs list --status failed --created-from yesterday",
    "signalbox jobs list --search 'sales report'",
    "signalbox jobs list --metadata team=sales --all --json",
  );

  const get = jobs
    .command("get")
    .argument("<jobId>", "id of the job")
    .description("Print one job with its input, metadata and output.")
    .option("--steps", "include the steps")
    .option("--json", "print one line of JSON")
    .action(async (jobId: string, options: ServiceOptions & { steps?: boolean; json?: boolean }) => {
      const { getJob } = await import("../../commands/jobs/jobs.ts");
      await getJob(await environment(), jobId, options);
    });
  withExamples(serviceCommand(get), "signalbox jobs get report-7 --steps", "signalbox jobs get report-7 --json");

  const watch = jobs
    .command("watch")
    .argument("[jobId]", "id of the job (default: all running jobs, or those that match the filters)")
    .description("Follow one job until it ends and exit with 1 if it fails, or follow many until Ctrl-C.")
    .option("--json", "print one line of JSON for each change")
    .action(async (jobId: string | undefined, options: ServiceOptions & FilterOptions & WatchOptions) => {
      const { watchJobs } = await import("../../commands/jobs/watchJobs.ts");
      await watchJobs(await environment(), jobId, options);
    });
  withExamples(
    serviceCommand(withFilters(watch)),
    "signalbox jobs watch report-7",
    "signalbox jobs watch --name nightly",
    "signalbox jobs watch report-7 --json",
  );

  addReports(jobs, environment);

  const cancel = jobs
    .command("cancel")
    .argument("<jobId>", "id of the job")
    .description(
      "Request that a running job be cancelled. The code that does the work learns of it with its next report.",
    )
    .option("--reason <text>", "why the result is no longer wanted")
    .option("--force", "fail the job at once, because the code that does the work is gone")
    .option("--json", "print the job as one line of JSON")
    .action(async (jobId: string, options: ServiceOptions & { reason?: string; force?: boolean; json?: boolean }) => {
      const { cancelJob } = await import("../../commands/jobs/jobs.ts");
      await cancelJob(await environment(), jobId, options);
    });
  withExamples(
    serviceCommand(cancel),
    "signalbox jobs cancel report-7 --reason 'The report is no longer needed'",
    "signalbox jobs cancel report-7 --reason 'The machine is gone' --force",
  );

  const remove = jobs
    .command("delete")
    .argument("[jobId...]", "ids of the jobs")
    .description("Delete the given jobs, or all jobs that match the filters, with their steps.")
    .option("--all", "delete every job")
    .option("--yes", "do not ask for confirmation")
    .action(async (jobIds: string[], options: ServiceOptions & FilterOptions & { all?: boolean; yes?: boolean }) => {
      const { deleteJobs } = await import("../../commands/jobs/jobs.ts");
      await deleteJobs(await environment(), jobIds, options);
    });
  withExamples(
    serviceCommand(withFilters(remove)),
    "signalbox jobs delete report-6 report-7",
    "signalbox jobs delete --status completed --updated-before 30d --yes",
  );
}

/** Adds the filters of jobs. A job must match all of those given. */
function withFilters(command: Command): Command {
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
