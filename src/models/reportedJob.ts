import type { CurrentStep, JobDoc, JobEffect } from "./job.ts";
import { storedUpdatedAt } from "./jobTimes.ts";
import { endedAt, later, type StepState } from "./reportedStep.ts";

/** What reports look at and change of a job. */
export type JobState = Pick<
  JobDoc,
  | "_id"
  | "jobId"
  | "status"
  | "progress"
  | "message"
  | "createdAt"
  | "updatedAt"
  | "endedAt"
  | "lastReportAt"
  | "staleAfterSeconds"
  | "staleAt"
  | "current"
  | "currentKnown"
  | "rev"
> & { output?: string | null };

/** The job after a report. Progress never goes back. */
export function reportedJob(before: JobState, { progress, message, ends }: JobEffect, now: Date): JobState {
  return {
    ...before,
    updatedAt: storedUpdatedAt(before.updatedAt, now),
    lastReportAt: later(before.lastReportAt, now),
    progress: Math.max(before.progress, progress ?? 0),
    ...(message !== undefined && { message }),
    ...(ends && { status: ends.status, endedAt: endedAt(before, ends.status, now) }),
    ...(ends?.status === "completed" && { output: ends.output }),
  };
}

/**
 * Of the steps still running the one most recently reported, after some of them were reported on.
 * @param reported those, as they are now
 * @returns undefined where only a look at all steps can tell
 */
export function currentAfter(
  { current, currentKnown }: Pick<JobState, "current" | "currentKnown">,
  reported: readonly StepState[],
): CurrentStep | null | undefined {
  if (!currentKnown) return undefined;
  const touched = current && reported.find(({ stepKey }) => stepKey === current.stepKey);
  const running = [...reported.filter(({ status }) => status === "running"), ...(current && !touched ? [current] : [])];
  const newest = running.reduce<StepState | CurrentStep | null>(
    (best, step) => (best && best.reportedAt >= step.reportedAt ? best : step),
    null,
  );
  // one that runs on and was reported before the one that has ended may be the next
  const isSure =
    !touched || touched.status === "running" || (newest !== null && newest.reportedAt > current.reportedAt);
  return isSure ? newest && toCurrent(newest) : undefined;
}

/** A step as it is now: its job may know more of it, while it is the current one. */
export function upToDate<S extends StepState>(step: S, { current }: Pick<JobState, "current">): S {
  const isBehind = current?.stepId === step.stepId && current.reportedAt > step.reportedAt;
  return isBehind ? { ...step, ...current, endedAt: null } : step;
}

/** What a job keeps of its current step, which is all that readers want of it. */
export function toCurrent(step: StepState | CurrentStep): CurrentStep {
  const { stepId, stepKey, stepName, status, progress, message, attempts, reportedAt } = step;
  const { createdAt, updatedAt, startedAt } = step;
  return {
    stepId,
    stepKey,
    stepName,
    status,
    progress,
    message,
    attempts,
    reportedAt,
    createdAt,
    updatedAt,
    startedAt,
  };
}
