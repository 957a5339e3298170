import type { CallOptions } from "./api.ts";
import { withRetry } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { pathSegment } from "./connection.ts";
import { abortedOf } from "./deadline.ts";
import { SignalboxError } from "./error.ts";
import type { Job, StepSummary } from "./records/jobs.ts";
import { type LiveEvent, watch } from "./watch.ts";

/** A job with its steps. */
export type WatchedJob = Job & Required<Pick<Job, "steps">>;

/**
 * Yields the current state of a job and each later one. The last state, in which the job has ended, includes the
 * output. Continues after a restart of the service. Returns when the signal is aborted.
 * @throws SignalboxError job_not_found, also when the job is deleted meanwhile; unauthorized
 */
export async function* watchJob(
  context: ClientContext,
  jobId: string,
  { signal }: CallOptions = {},
): AsyncGenerator<WatchedJob, void, undefined> {
  const request = { query: { include: "steps" }, signal };
  const read = () =>
    withRetry<WatchedJob>(context, Number.POSITIVE_INFINITY, "GET", `/api/jobs${pathSegment(jobId)}`, request);
  let job: WatchedJob | undefined;
  try {
    for await (const event of watch(context, { job: jobId, signal })) {
      const changed = applyEvent(job, event);
      if (!changed) continue;
      // The event of a job's end lacks the output.
      job = changed === "read" || changed.status !== "running" ? await read() : changed;
      yield job;
      if (job.status !== "running") return;
    }
  } catch (error) {
    if (!abortedOf([signal, context.closed])) throw error;
  }
}

/** Returns the job after the event, undefined if the event changes nothing, or "read" if the job must be read again. */
function applyEvent(job: WatchedJob | undefined, { type, data }: LiveEvent): WatchedJob | "read" | undefined {
  if (type === "job_removed") throw new SignalboxError(404, "job_not_found", "The job was deleted.");
  if (type === "reload" || (type === "state" && !data.reason)) return "read";
  if (type === "step") return job && withStep(job, data);
  if (type !== "job" || !job || data.updatedAt < job.updatedAt) return undefined;
  if (data.createdAt !== job.createdAt) return "read"; // The job was deleted and created again.
  return { ...job, ...data, progress: Math.max(job.progress, data.progress) };
}

function withStep(job: WatchedJob, step: StepSummary): WatchedJob | undefined {
  const current = job.steps.find(({ stepId }) => stepId === step.stepId);
  if (!current) return { ...job, steps: [...job.steps, { output: null, ...step }] };
  if (step.updatedAt < current.updatedAt) return undefined;
  return { ...job, steps: job.steps.map((one) => (one === current ? { ...one, ...step } : one)) };
}
