import type { SingleStep, StepReceipt, StepSummary, StepView } from "../../wire/step.ts";
import * as f from "../db/fields.ts";
import { Links, viewLinks } from "./link.ts";
import { PayloadRef } from "./payloads/payloads.ts";
import { FailedAttempt, viewFailedAttempts } from "./reports/failedAttempts.ts";

/** A step as its job's document stores it. */
export const StepDoc = f.object({
  stepId: f.string,
  stepKey: f.string,
  stepName: f.string,
  status: f.oneOf(["running", "completed", "failed"]),
  progress: f.number,
  message: f.nullable(f.string),
  output: f.nullable(PayloadRef),
  createdAt: f.date,
  updatedAt: f.date,
  startedAt: f.date,
  endedAt: f.nullable(f.date),
  attempts: f.number,
  /** The job's `seq` after the newest report on this step. */
  seq: f.number,
  /** The newest report on this step. */
  reportId: f.objectId,
  /** The greatest orders of the events that have set the status and the message (order.ts); missing without such events. */
  order: f.optional(f.number),
  messageOrder: f.optional(f.number),
  links: Links,
  /** The latest failed attempts, oldest first; missing if none has failed. */
  failedAttempts: f.optional(f.listOf(FailedAttempt)),
});
export type StepDoc = f.Stored<typeof StepDoc>;

/** Returns the name of a step's field in `steps`. It encodes `.` and `$`, which have a meaning in MongoDB's paths, and `%`. */
export const stepField = (stepKey: string): string =>
  stepKey.replace(/[%.$]/g, encodeURIComponent).replaceAll(".", "%2E");

/** Returns a step as the response to a report shows it. */
export function stepReceipt(jobId: string, step: StepDoc): StepReceipt {
  return {
    stepId: step.stepId,
    jobId,
    stepKey: step.stepKey,
    stepName: step.stepName,
    status: step.status,
    progress: step.progress,
    message: step.message,
    createdAt: step.createdAt.toISOString(),
    updatedAt: step.updatedAt.toISOString(),
    startedAt: step.startedAt.toISOString(),
  };
}

/**
 * Returns a step without its output.
 * @param staleAfterMs how long a running step may go without a report before it is stale
 * @param resumedAt when its job last stopped waiting for a person
 */
export function stepSummary(
  jobId: string,
  step: StepDoc,
  now: Date,
  { staleAfterMs, resumedAt }: { staleAfterMs: number; resumedAt: Date | undefined },
): StepSummary {
  const silentMs = now.getTime() - Math.max(step.updatedAt.getTime(), resumedAt?.getTime() ?? 0);
  return {
    ...stepReceipt(jobId, step),
    attempts: step.attempts,
    links: viewLinks(step.links),
    lastReportAt: step.updatedAt.toISOString(),
    stale: step.status === "running" && silentMs >= staleAfterMs,
  };
}

/** Returns the view of a step with its failed attempts, and with the duration of a completed one. */
export function singleStep(view: StepView, step: StepDoc): SingleStep {
  const { status, endedAt, updatedAt, startedAt } = step;
  const { failedAttempts } = step;
  return {
    ...view,
    ...(status === "completed" && { durationMs: Math.max(0, (endedAt ?? updatedAt).getTime() - startedAt.getTime()) }),
    ...(failedAttempts && { failedAttempts: viewFailedAttempts(failedAttempts) }),
  };
}
