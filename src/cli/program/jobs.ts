import type { Command } from "commander";
import type { FilterOptions } from "../commands/jobs.ts";
import type { ListOptions } from "../commands/list.ts";
import type { WatchOptions } from "../commands/watchJobs.ts";
import type { ServiceOptions } from "../service.ts";
import { choicesOption, listCommand, pair, serviceCommand, timeOrAge } from "./arguments.ts";
import type { Environment } from "./environment.ts";
import { withExamples } from "./examples.ts";

/** `jobs …` */
export function addJobs(program: Command, environment: Environment): void {
  const jobs = program.command("jobs").description("The jobs that the service tracks.");

  const list = jobs
    .command("list")
    .description("Print jobs, newest first.")
    .action(async (options: ServiceOptions & FilterOptions & ListOptions) => {
      const { listJobs } = await import("../commands/jobs.ts");
      await listJobs(await environment(), options);
    });
  withExamples(
    listCommand(ofFilter(list)),
    "signalbox jobs list --status failed --created-from 1d",
    "signalbox jobs list --metadata team=sales --all --json",
  );

  const get = jobs
    .command("get <jobId>")
    .description("Print one job, with its input, metadata and output.")
    .option("--steps", "its steps too")
    .option("--json", "print JSON, on one line")
    .action(async (jobId: string, options: ServiceOptions & { steps?: boolean; json?: boolean }) => {
      const { getJob } = await import("../commands/jobs.ts");
      await getJob(await environment(), jobId, options);
    });
  withExamples(serviceCommand(get), "signalbox jobs get report-7 --steps", "signalbox jobs get report-7 --json");

  const watch = jobs
    .command("watch [jobId]")
    .description(
      "Follow one job to its end, and exit with 1 where it fails; or those that run, or fit the filters, until Ctrl-C.",
    )
    .option("--json", "print JSON, one line for each change")
    .action(async (jobId: string | undefined, options: ServiceOptions & FilterOptions & WatchOptions) => {
      const { watchJobs } = await import("../commands/watchJobs.ts");
      await watchJobs(await environment(), jobId, options);
    });
  withExamples(
    serviceCommand(ofFilter(watch)),
    "signalbox jobs watch report-7",
    "signalbox jobs watch --name nightly",
    "signalbox jobs watch report-7 --json",
  );

  const remove = jobs
    .command("delete [jobId...]")
    .description("Delete the jobs named, or those that the filters fit, with all their steps.")
    .option("--all", "every job there is")
    .option("--yes", "do not ask before what fits the filters, or all, is deleted")
    .action(async (jobIds: string[], options: ServiceOptions & FilterOptions & { all?: boolean; yes?: boolean }) => {
      const { deleteJobs } = await import("../commands/jobs.ts");
      await deleteJobs(await environment(), jobIds, options);
    });
  withExamples(
    serviceCommand(ofFilter(remove)),
    "signalbox jobs delete report-6 report-7",
    "signalbox jobs delete --status completed --updated-before 30d --yes",
  );
}

/** Adds the filters of jobs. A job must match all of those given. */
function ofFilter(command: Command): Command {
  const given = new Set<string>();
  for (const name of ["stale", "no-stale"]) {
    command.on(`option:${name}`, () => {
      // commander does not detect a conflict of two options that set the same value.
      if (given.add(name).size > 1) command.error("error: option '--stale' cannot be used with option '--no-stale'");
    });
  }
  return command
    .addOption(choicesOption("--status <status>", "in this status", ["running", "completed", "failed"]))
    .option("--name <text>", "whose name begins so; case does not matter")
    .option("--job-id <text>", "whose id begins so")
    .option("--metadata <key=value>", "whose metadata has this value; may be repeated", pair)
    .option("--stale", "running, and silent for too long")
    .option("--no-stale", "all others")
    .option("--created-from <time>", "created then or later; a time, or how long ago: 2h, 7d", timeOrAge)
    .option("--created-before <time>", "created before", timeOrAge)
    .option("--updated-from <time>", "changed then or later", timeOrAge)
    .option("--updated-before <time>", "changed before", timeOrAge);
}
