import type { CancelledError, Client, JobChange, Status } from "../../../client/client.ts";
import { CommandError, EXIT } from "../../exit.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanText } from "../../terminal/cleanText.ts";
import { print } from "../../terminal/words.ts";
import { printNote } from "../list.ts";
import { metadataOf, onceEach } from "./reporting.ts";

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

export interface PutOptions extends ReportOptions {
  readonly description?: string;
  readonly metadata?: Readonly<Record<string, readonly string[]>>;
  readonly input?: object;
  readonly staleAfter?: number;
  readonly json?: boolean;
}

export interface ReportStepOptions extends ReportOptions {
  readonly from?: number;
  readonly to?: number;
  readonly failJob?: boolean;
}

/**
 * `jobs put ID`: creates a job or changes the given fields.
 * @throws CommandError as `withService` does, and if cancellation of the running job is requested
 */
export function putJob(env: NodeJS.ProcessEnv, jobId: string, options: PutOptions): Promise<void> {
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
  return withReporter(env, options, async (client) => {
    const job = await client.jobs.put(jobId, fields as JobChange);
    if (json) print([cleanJson(job)]);
    if (job.cancelRequested && job.status === "running") throw cancelled(job.cancel?.reason ?? null);
  });
}

/**
 * `jobs report ID STEP`: reports on a step, and creates it with its first report.
 * @throws CommandError as `withService` does, and if cancellation of the job is requested while the step runs
 */
export function reportStep(
  env: NodeJS.ProcessEnv,
  { jobId, stepKey }: { readonly jobId: string; readonly stepKey: string },
  { name = stepKey, from, to, status, progress, message, output, failJob, ...options }: ReportStepOptions,
): Promise<void> {
  const range = { jobProgressStart: from, jobProgressEnd: to };
  return withReporter(env, options, async (client) => {
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
}

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
