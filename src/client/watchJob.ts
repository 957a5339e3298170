import type { CallOptions } from "./api.ts";
import { withRetry } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";
import { segment } from "./connection.ts";
import { abortedOf } from "./deadline.ts";
import { SignalboxError } from "./error.ts";
import type { Job, StepSummary } from "./records.ts";
import { type LiveEvent, watch } from "./watch.ts";

/** A job with its steps, as it is now. */
export type WatchedJob = Job & Required<Pick<Job, "steps">>;

/**
 * The states of a job, from the present one to its end, which comes with the output. Goes on over restarts of the
 * service; ends without a word when the signal fires.
 * @throws SignalboxError job_not_found, also when it is deleted meanwhile; unauthorized
 */
export async function* watchJob(
  context: ClientContext,
  jobId: string,
  { signal }: CallOptions,
): AsyncGenerator<WatchedJob, void, undefined> {
  const request = { query: { include: "steps" }, signal };
  const read = () =>
    withRetry<WatchedJob>(context, Number.POSITIVE_INFINITY, "GET", `/api/jobs${segment(jobId)}`, request);
  let job: WatchedJob | undefined;
  try {
    for await (const event of watch(context, { job: jobId, signal })) {
      const changed = apply(job, event);
      if (!changed) continue;
      // What an event says of the end is without the output.
      job = changed === "read" || changed.status !== "running" ? await read() : changed;
      yield job;
      if (job.status !== "running") return;
    }
  } catch (error) {
    if (!abortedOf([signal, context.closed])) throw error;
  }
}

/** What an event makes of the job: undefined when nothing, "read" when that has to be asked for. */
function apply(job: WatchedJob | undefined, { type, data }: LiveEvent): WatchedJob | "read" | undefined {
  if (type === "job_removed") throw new SignalboxError(404, "job_not_found", "The job was deleted.");
  if (type === "reload" || (type === "state" && !data.reason)) return "read";
  if (type === "step") return job && withStep(job, data);
  if (type !== "job" || !job || data.updatedAt < job.updatedAt) return undefined;
  if (data.createdAt !== job.createdAt) return "read"; // another one of the same name
  return { ...job, ...data, progress: Math.max(job.progress, data.progress) };
}

function withStep(job: WatchedJob, step: StepSummary): WatchedJob | undefined {
  const known = job.steps.find(({ stepId }) => stepId === step.stepId);
  if (!known) return { ...job, steps: [...job.steps, { output: null, ...step }] };
  if (step.updatedAt < known.updatedAt) return undefined;
  return { ...job, steps: job.steps.map((one) => (one === known ? { ...one, ...step } : one)) };
}
