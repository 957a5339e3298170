import { type Command, Option } from "commander";
import type { CancelledError, Client, JobChange, Status } from "../../../client/client.ts";
import { jsonObject, numberFrom, pair } from "../../arguments.ts";
import { type Define, serviceCommand, withExamples } from "../../command.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanText } from "../../terminal/cleanText.ts";
import { print } from "../../terminal/words.ts";
import { printNote } from "../list.ts";
import { metadataOf, onceEach, RETURN, returnFields } from "./reporting.ts";

/** The options that `jobs put` and `jobs report` share. */
interface ReportOptions extends ServiceOptions {
  readonly name?: string;
  readonly status?: Status;
  readonly progress?: number;
  readonly message?: string;
  readonly output?: object;
  /** Maximum seconds for which the report is repeated while the service is unavailable. */
  readonly wait: number;
}

interface PutOptions extends ReportOptions {
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
  readonly input?: object;
  readonly staleAfter?: number;
  readonly json?: boolean;
  readonly return?: boolean;
}

interface ReportStepOptions extends ReportOptions {
  readonly from?: number;
  readonly to?: number;
  readonly failJob?: boolean;
}

/** `jobs put ID`: creates a job or changes the given fields. */
export const putJob: Define = (command, environment) =>
  withExamples(
    reportCommand(
      command
        .argument("<jobId>", "id of the job")
        .option("--name <text>", "name of the job")
        .option("--description <text>", "description of the job")
        .option("--metadata <key=value>", "metadata of the job, all of which is replaced (repeatable)", pair)
        .option("--input <json>", "input of the job, as a JSON object", jsonObject)
        .option(
          "--stale-after <seconds>",
          "time without a report after which the job is stale",
          numberFrom(1, 31_536_000),
        )
        .option("--return", RETURN)
        .option("--json", "print the job as one line of JSON"),
    ),
    "signalbox jobs put backup-7 --name 'Nightly backup' --metadata host=db1",
    "signalbox jobs put backup-7 --status failed --message 'The disk is full'",
  ).action(async (jobId: string, options: PutOptions) => {
    const { name, description, metadata, input, staleAfter, status, progress, message, output, json } = options;
    const fields = {
      name,
      description,
      input,
      staleAfterSeconds: staleAfter,
      status,
      progress,
      message,
      output,
      metadata: metadata && metadataOf(metadata),
    };
    const env = await environment();
    const change = { ...fields, ...returnFields(options.return, env) } as JobChange;
    return withReporter(env, options, async (client) => {
      const job = await client.jobs.put(jobId, change);
      if (json) print([cleanJson(job)]);
      if (job.cancelRequested && job.status === "running") throw cancelled(job.cancel?.reason ?? null);
    });
  });

/** `jobs report ID STEP`: reports on a step, and creates it with its first report. */
export const reportStep: Define = (command, environment) =>
  withExamples(
    reportCommand(
      command
        .argument("<jobId>", "id of the job")
        .argument("<stepKey>", "key of the step")
        .option("--name <text>", "name of the step, the same in each report (default: its key)")
        .option("--from <percent>", "progress of the job when the step starts", numberFrom(0, 100))
        .option(
          "--to <percent>",
          "progress of the job when the step is completed; 100 completes the job",
          numberFrom(0, 100),
        )
        .option("--fail-job", "with --status failed: fail the job too, because no further attempt follows"),
    ),
    "signalbox jobs report backup-7 dump --from 0 --to 60 --progress 50 --message '12 of 24 tables'",
    "signalbox jobs report backup-7 dump --from 0 --to 60 --status completed",
    `signalbox jobs report backup-7 upload --from 60 --to 100 --status completed --output '{"bytes": 73400320}'`,
  ).action(async (jobId: string, stepKey: string, given: ReportStepOptions) => {
    const { name = stepKey, from, to, status, progress, message, output, failJob, ...options } = given;
    const range = { jobProgressStart: from, jobProgressEnd: to };
    return withReporter(await environment(), options, async (client) => {
      const step = client.step({ jobId, stepKey, stepName: name, ...range });
      if (status === "completed") {
        // The step whose range ends at 100 completes the job, which needs an output: that of a ping by default.
        return step.complete({ message, output: output ?? (to === 100 ? { message: message ?? null } : undefined) });
      }
      if (status === "failed") return step.fail(message ?? "Failed", { output, failJob });
      let cancel: CancelledError | undefined;
      const stop = step.onCancel((error) => {
        cancel = error;
      });
      const isStart = progress === undefined && message === undefined && output === undefined;
      if (status === "running" || isStart) await step.start(message, { progress });
      else step.update({ progress, message });
      step.update({ output });
      await step.flush().finally(stop);
      if (cancel) throw cancelled(cancel.reason);
    });
  });

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

/** @throws CommandError as `withService` does */
async function withReporter(
  env: NodeJS.ProcessEnv,
  options: ServiceOptions & { readonly wait: number },
  act: (client: Client) => Promise<void>,
): Promise<void> {
  await withService(env, options, ({ retrying, url }) => {
    const note = onceEach(printNote);
    return act(retrying(() => note(`${url} cannot be reached; trying again …`), options.wait * 1_000));
  });
}

const cancelled = (reason: string | null) =>
  new CommandError(
    EXIT.failed,
    `Cancellation of the job is requested${reason ? `: ${cleanText(reason)}` : ""}. Stop the work, and report it as failed.`,
  );
