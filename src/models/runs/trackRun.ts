import { AppError } from "../../shared/errors.ts";
import { exists } from "../db/caughtUpPrimary.ts";
import { reportStep, type StepReport } from "../jobs/reportStep.ts";
import type { Stores } from "../stores.ts";
import type { AgentRequest, RunDoc } from "./run.ts";

/** However its characters are escaped, the job's output stays within what a job may hold. */
const MAX_REPLY_CHARS = 800_000;

/** The one step of a run's job; what an agent reports itself are further steps. */
const STEP = { key: "agent", stepName: "Agent turn" } as const;

type TrackedRun = Pick<RunDoc, "_id" | "name" | "sessionKey" | "request" | "tracked">;

/**
 * Creates the job that shows a run in the tracker, under the run's id. Does so once for each run: a job that somebody has
 * deleted since does not come back.
 * @throws AppError unavailable
 */
export async function trackAccepted({ jobs, runs }: Pick<Stores, "jobs" | "runs">, run: TrackedRun): Promise<void> {
  if (!run.request?.trackAsJob || run.tracked) return;
  const metadata = { runId: run._id, sessionKey: run.sessionKey };
  await jobs.put(run._id, { name: run.name ?? "Hook", metadata, staleAfterSeconds: staleAfter(run.request) });
  await runs.markTracked(run._id);
}

/** A turn may be silent for as long as it may take. */
const staleAfter = ({ timeoutSeconds }: AgentRequest): number => Math.max(60, Math.ceil(timeoutSeconds) + 60);

/** Shows a run that was begun anew by hand. @throws AppError unavailable */
export async function trackRetried(stores: Stores, run: RunDoc): Promise<void> {
  await trackAccepted(stores, run);
  if (!run.request?.trackAsJob || !(await exists(stores.jobs.collection, { jobId: run._id }))) return;
  await stores.jobs.put(run._id, { status: "running", message: "Begun anew" });
}

/** Shows a try that begins. @throws AppError unavailable */
export async function trackStarted(stores: Stores, run: RunDoc): Promise<void> {
  await trackAccepted(stores, run); // the process that accepted it may have died before it created the job
  await track(stores, run, { status: "running", progress: 0, message: `Try ${run.attempts}` });
}

/** Shows a try that failed and will be followed by another. @throws AppError unavailable */
export async function trackRetry(stores: Stores, run: RunDoc, reason: string): Promise<void> {
  await track(stores, run, { status: "failed", message: `${reason} It will be tried again.` });
}

/** Ends the job as the run has ended; its output is the reply. @throws AppError unavailable */
export async function trackEnded(stores: Stores, run: RunDoc): Promise<void> {
  if (run.status === "completed") {
    const whole = run.reply ?? "";
    const reply = whole.slice(0, MAX_REPLY_CHARS);
    const output = { reply, ...(reply.length < whole.length && { truncated: true }) };
    await track(stores, run, { status: "completed", progress: 100, message: "Completed", output });
  } else {
    await track(stores, run, { status: "failed", failJob: true, message: run.error?.message });
  }
}

async function track(stores: Stores, run: RunDoc, report: StepReport): Promise<void> {
  if (!run.request?.trackAsJob) return;
  const whole = { jobProgressStart: 0, jobProgressEnd: 100, stepName: STEP.stepName };
  try {
    await reportStep(stores, run._id, STEP.key, { ...whole, ...report });
  } catch (error) {
    // Somebody has deleted the job: the run goes on without it.
    if (!(error instanceof AppError && error.code === "job_not_found")) throw error;
  }
}
