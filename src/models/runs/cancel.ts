import { AppError, ignore } from "../../shared/errors.ts";
import type { CancelChange } from "../jobs/cancelUpdate.ts";
import type { JobHead } from "../jobs/job.ts";
import type { RunStores } from "./runStores.ts";

/*
 * A run that is tracked as a job and that job are cancelled together. The run is always cancelled first: if the process ends
 * before it has changed the job, whoever finalizes the run does so (trackRun.ts).
 */

type CancelStores = Pick<RunStores, "jobs" | "runs">;

/** The id of a run that was cancelled before a worker took it. Enqueue the run, so that a worker finalizes it. */
type RunToFinalize = string | null;

/**
 * Cancels a run, and the job that shows it.
 * @throws AppError run_not_found, run_state_conflict, unavailable
 */
export async function cancelRun({ runs, jobs }: CancelStores, runId: string): Promise<RunToFinalize> {
  const { wasRunning } = await runs.cancel(runId);
  const { request } = await runs.find(runId);
  if (request?.trackAsJob) await jobs.cancel(runId, {}).catch(ignore("job_not_found", "job_ended"));
  return wasRunning ? null : runId;
}

/**
 * Requests that a job be cancelled, and cancels the run that it shows, if any.
 * @returns the job, and whether it ended by this request
 * @throws AppError job_not_found, job_ended, unavailable
 */
export async function cancelJob(
  stores: CancelStores,
  jobId: string,
  change: CancelChange,
): Promise<{ job: JobHead; ended: boolean; runToFinalize: RunToFinalize }> {
  const { jobs } = stores;
  const run = await cancelTracked(stores, jobId, change.reason ?? null);
  try {
    return { ...(await jobs.cancel(jobId, change)), runToFinalize: run?.wasRunning === false ? jobId : null };
  } catch (error) {
    // A worker has finalized the cancelled run already, and with it the job.
    if (!run || !(error instanceof AppError && error.code === "job_ended")) throw error;
    return { job: await jobs.find(jobId), ended: false, runToFinalize: null };
  }
}

/** Cancels the run that a running job shows. @returns null if there is none, or if it has ended */
async function cancelTracked(
  { jobs, runs }: CancelStores,
  jobId: string,
  reason: string | null,
): Promise<{ wasRunning: boolean } | null> {
  const run = await runs.find(jobId).catch(ignore("run_not_found"));
  if (!run?.open || !run.request?.trackAsJob || (await jobs.find(jobId)).status !== "running") return null;
  return (await runs.cancel(jobId, reason).catch(ignore("run_not_found", "run_state_conflict"))) ?? null;
}
