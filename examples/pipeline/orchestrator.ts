import { setTimeout as delay } from "node:timers/promises";
import {
  CancelledError,
  type Client,
  SignalboxError,
  type Step as StepRecord,
  type StepReporter,
} from "signalbox/client";
import type { Print } from "./loudFetch.ts";
import { AttemptFailed, type StepCode } from "./step.ts";
import { classify } from "./steps/classify.ts";
import { hash } from "./steps/hash.ts";
import { scan } from "./steps/scan.ts";
import { writeReport } from "./steps/writeReport.ts";

/** The order of the steps, and each one's share of the job's progress. */
const STEPS = [
  { stepKey: "scan", stepName: "Scan the folder", jobProgressStart: 0, jobProgressEnd: 10, code: scan },
  { stepKey: "hash", stepName: "Hash the files", jobProgressStart: 10, jobProgressEnd: 70, code: hash },
  { stepKey: "classify", stepName: "Classify the files", jobProgressStart: 70, jobProgressEnd: 90, code: classify },
  { stepKey: "report", stepName: "Write the report", jobProgressStart: 90, jobProgressEnd: 100, code: writeReport },
] as const satisfies readonly { code: StepCode; [field: string]: unknown }[];

type Step = (typeof STEPS)[number];

/** The step whose first attempt fails with `--flaky`. */
const FLAKY_STEP = "hash";
const ATTEMPTS = 3;
const FIRST_PAUSE_MS = 300;
/** How long each of the two steps that look into the files takes with `--slow`. */
const SLOW_STEP_MS = 15_000;

export interface Order {
  readonly jobId: string;
  readonly folder: string;
  readonly out: string;
  /** Whether a person decides before the report is written. */
  readonly ask: boolean;
  readonly flaky: boolean;
  readonly slow: boolean;
}

/**
 * Runs the steps in order, each with the previous step's output from the service. Steps that are already completed are
 * skipped, so that a killed orchestrator continues where it stopped. Stops at the next file when the job is cancelled.
 * @throws SignalboxError when the service cannot be used; any other error is a step's final failure, which is reported
 */
export async function runPipeline(client: Client, order: Order, print: Print): Promise<void> {
  let previous: unknown = null;
  for (const step of STEPS) {
    const done = await readStep(client, order.jobId, step.stepKey);
    if (done?.status === "completed") print(step.stepKey, "completed before, skipped");
    else {
      if (order.ask && step.stepKey === "report") await askToPublish(client, order, previous, print);
      await runStep(client, order, step, previous, print);
    }
    previous = (await readStep(client, order.jobId, step.stepKey))?.output;
  }
}

/** The person has not allowed the report. */
class NotAllowed extends Error {}

/** How long a person has to decide. */
const DECISION_SECONDS = 7 * 86_400;

/**
 * Waits until a person allows the report. An orchestrator that is killed meanwhile waits for the same answer when it continues.
 * @throws Error when the report must not be written, also because the job is cancelled; the job has failed then
 */
async function askToPublish(client: Client, { jobId, out }: Order, previous: unknown, print: Print): Promise<void> {
  const { files } = previous as { files: readonly unknown[] };
  print("publish", "waits for a person: answer on the page of the job");
  const job = client.job(jobId);
  try {
    const { action } = await job.gate("publish", {
      title: `Write the report on ${files.length} files?`,
      message: `It goes to ${out}.`,
      expiresIn: DECISION_SECONDS,
    });
    print("publish", action);
    if (action === "accept") return;
    throw new NotAllowed(`The report was not written: the answer was ${action}.`);
  } catch (error) {
    if (error instanceof NotAllowed || error instanceof CancelledError) await job.fail(error);
    throw error;
  }
}

async function runStep(client: Client, order: Order, step: Step, previous: unknown, print: Print): Promise<void> {
  const { code: _, ...known } = step;
  const { jobId, folder, out, slow } = order;
  const report = client.step({ jobId, ...known });
  const cancelled = new AbortController();
  const { signal } = cancelled;
  const stopListening = report.onCancel((error) => cancelled.abort(error));
  const pace = async (count: number) => {
    if (slow) await delay(SLOW_STEP_MS / count, undefined, { signal });
    signal.throwIfAborted();
  };
  await runAttempts(client, order, step, { folder, out, report, previous, signal, pace }, print).finally(stopListening);
}

type Work = Omit<Parameters<StepCode>[0], "own" | "flaky">;

async function runAttempts(client: Client, order: Order, step: Step, work: Work, print: Print): Promise<void> {
  const { code, stepKey } = step;
  for (let attempt = 1; ; attempt++) {
    const own = (await readStep(client, order.jobId, stepKey))?.output ?? null;
    const flaky = order.flaky && attempt === 1 && stepKey === FLAKY_STEP;
    try {
      return await code({ ...work, own, flaky });
    } catch (thrown) {
      const { aborted, reason } = work.signal;
      const error = aborted ? reason : thrown;
      const isLast = attempt === ATTEMPTS || !(error instanceof AttemptFailed);
      await reportFailure(work.report, error, isLast);
      if (isLast) throw error;
    }
    const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1);
    print(stepKey, `trying again in ${pauseMs} ms (attempt ${attempt + 1} of ${ATTEMPTS})`);
    await delay(pauseMs);
  }
}

/** Fails the job with the last attempt: only the orchestrator knows whether a step will be retried. A cancelled one is not. */
async function reportFailure(reporter: StepReporter, error: unknown, isLast: boolean): Promise<void> {
  if (error instanceof SignalboxError && error.isTransient) throw error;
  const output = error instanceof AttemptFailed ? error.output : undefined;
  await reporter.fail(error, { output, failJob: isLast });
}

/** Reads the job and its step in one request, which is no error before the first report on the step. */
async function readStep(client: Client, jobId: string, stepKey: string): Promise<StepRecord | null> {
  const { step = null } = await client.jobs.get(jobId, { stepKey });
  return step;
}
