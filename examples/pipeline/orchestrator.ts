import { setTimeout as delay } from "node:timers/promises";
import { type Client, SignalboxError, type Step as StepRecord, type StepReporter } from "signalbox/client";
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
  readonly flaky: boolean;
  readonly slow: boolean;
}

/**
 * Runs the steps in order, each with the previous step's output from the service. Steps that are already completed are
 * skipped, so that a killed orchestrator continues where it stopped.
 * @throws SignalboxError when the service cannot be used; any other error is a step's final failure, which is reported
 */
export async function runPipeline(client: Client, order: Order, print: Print): Promise<void> {
  let previous: unknown = null;
  for (const step of STEPS) {
    const done = await readStep(client, order.jobId, step.stepKey);
    if (done?.status === "completed") print(step.stepKey, "completed before, skipped");
    else await runStep(client, order, step, previous, print);
    previous = (await readStep(client, order.jobId, step.stepKey))?.output;
  }
}

async function runStep(client: Client, order: Order, step: Step, previous: unknown, print: Print): Promise<void> {
  const { code, ...known } = step;
  const pace = async (count: number) => {
    if (order.slow) await delay(SLOW_STEP_MS / count);
  };
  const reporter = client.step({ jobId: order.jobId, ...known });
  for (let attempt = 1; ; attempt++) {
    const own = (await readStep(client, order.jobId, step.stepKey))?.output ?? null;
    const flaky = order.flaky && attempt === 1 && step.stepKey === FLAKY_STEP;
    try {
      return await code({ folder: order.folder, out: order.out, report: reporter, previous, own, flaky, pace });
    } catch (error) {
      const isLast = attempt === ATTEMPTS || !(error instanceof AttemptFailed);
      await reportFailure(reporter, error, isLast);
      if (isLast) throw error;
    }
    const pauseMs = FIRST_PAUSE_MS * 2 ** (attempt - 1);
    print(step.stepKey, `trying again in ${pauseMs} ms (attempt ${attempt + 1} of ${ATTEMPTS})`);
    await delay(pauseMs);
  }
}

/** Fails the job: only the orchestrator knows whether a step will be retried. */
async function reportFailure(reporter: StepReporter, error: unknown, isLast: boolean): Promise<void> {
  if (error instanceof SignalboxError && error.isTransient) throw error;
  const output = error instanceof AttemptFailed ? error.output : undefined;
  await reporter.fail(error, { output, failJob: isLast });
}

async function readStep(client: Client, jobId: string, stepKey: string): Promise<StepRecord | null> {
  try {
    return await client.jobs.step(jobId, stepKey);
  } catch (error) {
    if (error instanceof SignalboxError && error.code === "step_not_found") return null;
    throw error;
  }
}
