import type { JobDoc } from "../../models/jobs/job.ts";
import { jobTrace } from "../../models/jobs/job.ts";
import type { AttemptedStep } from "../../models/jobs/read/stepAttempts.ts";
import type { NotedJob } from "../../models/notifications/outbox.ts";
import { childSpanId, readTraceparent } from "../../shared/traceContext.ts";
import { INTERNAL, SERVER, type SpanFields } from "./span.ts";

/** The results of the conventions for CI/CD: https://opentelemetry.io/docs/specs/semconv/cicd/cicd-spans/ */
export type Result = "success" | "failure" | "error" | "timeout" | "cancellation";

/** The type of an error that has no name. */
export const OTHER_ERROR = "_OTHER";

const STEP_RESULTS = { completed: "success", failed: "failure" } as const;

interface EndedJob {
  /** The job as it was at its end. */
  readonly job: NotedJob;
  readonly end: Date;
  /** Its page. */
  readonly url: string;
}

/** Yields the spans of the run of a job that has ended: that of the job, and one for each attempt of a step that is stored. */
export function* jobSpans({ job, end, url }: EndedJob, steps: readonly AttemptedStep[]): Generator<SpanFields> {
  const { traceId, spanId } = jobTrace(job);
  const result = resultOf(job);
  const name = job.name ?? undefined;
  const isFailed = result === "failure";
  const start = job.startedAt ?? job.createdAt;
  yield {
    traceId,
    spanId,
    name: name === undefined ? "RUN" : `RUN ${name}`,
    kind: SERVER,
    start,
    end,
    isFailed,
    link: readTraceparent(job.traceparent),
    attributes: {
      "cicd.pipeline.name": name ?? job.jobId,
      "cicd.pipeline.run.id": job.jobId,
      "cicd.pipeline.run.url.full": url,
      "cicd.pipeline.result": result,
      "error.type": isFailed ? OTHER_ERROR : undefined,
    },
  };
  const bounds = { start: start > job.createdAt ? start : undefined, end };
  for (const { stepId, stepKey, stepName, ...step } of steps) {
    for (const attempt of attemptsWithin(step, bounds)) {
      const own = attempt.status === "running" ? result : STEP_RESULTS[attempt.status];
      yield {
        traceId,
        spanId: childSpanId(traceId, stepId, attempt.attempt),
        parentSpanId: spanId,
        name: stepName,
        kind: INTERNAL,
        start: attempt.start,
        end: attempt.end,
        isFailed: own === "failure",
        attributes: {
          "cicd.pipeline.task.name": stepName,
          "cicd.pipeline.task.run.id": `${stepId}-${attempt.attempt}`,
          "cicd.pipeline.task.run.url.full": `${url}?step=${encodeURIComponent(stepKey)}`,
          "cicd.pipeline.task.run.result": own,
          "error.type": own === "failure" ? OTHER_ERROR : undefined,
        },
      };
    }
  }
}

/** A failed job whose cancellation was requested is cancelled. */
const resultOf = ({ status, cancel }: Pick<JobDoc, "status" | "cancel">): Result =>
  status === "completed" ? "success" : cancel ? "cancellation" : "failure";

/**
 * Returns the stored attempts of a step in one run of its job: the latest one, and the failed ones before it. One that is open
 * ends with the job. The step may belong to an earlier run, or to a later one that has begun meanwhile.
 * @param start the start of a run after the first one
 */
function attemptsWithin(
  {
    attempts,
    status,
    startedAt,
    endedAt,
    failedAttempts,
  }: Pick<AttemptedStep, "attempts" | "status" | "startedAt" | "endedAt" | "failedAttempts">,
  { start, end }: { readonly start: Date | undefined; readonly end: Date },
) {
  const earlier = failedAttempts.filter(({ attempt }) => attempt !== attempts);
  const all = [
    ...earlier.map((failed) => ({ ...failed, status: "failed" as const })),
    { attempt: attempts, status, startedAt, endedAt },
  ];
  return all
    .filter((one) => one.startedAt <= end && !(start && one.endedAt && one.endedAt <= start))
    .map((one) => ({
      attempt: one.attempt,
      status: one.status,
      start: start && one.startedAt < start ? start : one.startedAt,
      end: one.endedAt && one.endedAt < end ? one.endedAt : end,
    }));
}
