import { type Command, Option } from "commander";
import type { PutOptions, ReportStepOptions } from "../../commands/jobs/reportJobs.ts";
import { jsonObject, numberFrom, pair, serviceCommand } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `jobs put` and `jobs report`: report on jobs and steps from a shell script. */
export function addReports(jobs: Command, environment: Environment): void {
  const put = jobs
    .command("put")
    .argument("<jobId>", "id of the job")
    .description("Create a job, or change the given fields of one.")
    .option("--name <text>", "name of the job")
    .option("--description <text>", "description of the job")
    .option("--metadata <key=value>", "metadata of the job, all of which is replaced (repeatable)", pair)
    .option("--input <json>", "input of the job, as a JSON object", jsonObject)
    .option("--stale-after <seconds>", "time without a report after which the job is stale", numberFrom(1, 31_536_000))
    .option("--json", "print the job as one line of JSON")
    .action(async (jobId: string, options: PutOptions) => {
      const { putJob } = await import("../../commands/jobs/reportJobs.ts");
      await putJob(await environment(), jobId, options);
    });
  withExamples(
    reportCommand(put),
    "signalbox jobs put backup-7 --name 'Nightly backup' --metadata host=db1",
    "signalbox jobs put backup-7 --status failed --message 'The disk is full'",
  );

  const report = jobs
    .command("report")
    .argument("<jobId>", "id of the job")
    .argument("<stepKey>", "key of the step")
    .description("Report on a step of a job. The first report creates the step and starts it.")
    .option("--name <text>", "name of the step, the same in each report (default: its key)")
    .option("--from <percent>", "progress of the job when the step starts", numberFrom(0, 100))
    .option(
      "--to <percent>",
      "progress of the job when the step is completed; 100 completes the job",
      numberFrom(0, 100),
    )
    .option("--fail-job", "with --status failed: fail the job too, because no further attempt follows")
    .action(async (jobId: string, stepKey: string, options: ReportStepOptions) => {
      const { reportStep } = await import("../../commands/jobs/reportJobs.ts");
      await reportStep(await environment(), { jobId, stepKey }, options);
    });
  withExamples(
    reportCommand(report),
    "signalbox jobs report backup-7 dump --from 0 --to 60 --progress 50 --message '12 of 24 tables'",
    "signalbox jobs report backup-7 dump --from 0 --to 60 --status completed",
    `signalbox jobs report backup-7 upload --from 60 --to 100 --status completed --output '{"bytes": 73400320}'`,
  );
}

const reportCommand = (command: Command): Command =>
  serviceCommand(
    command
      .addOption(new Option("--status <status>", "status to report").choices(["running", "completed", "failed"]))
      .option("--progress <percent>", "progress to report", numberFrom(0, 100))
      .option("--message <text>", "what is being done, or the reason of a failure")
      .option("--output <json>", "result, as a JSON object", jsonObject)
      .option(
        "--wait <seconds>",
        "maximum time to try again while the service is unavailable",
        numberFrom(0, 3_600),
        10,
      ),
  );
