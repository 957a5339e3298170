import { randomUUID } from "node:crypto";
import { AppError } from "../shared/errors.ts";
import type { JobRef, StepChange, StepDoc } from "./step.ts";

/** A step as reports know it: an output is written and never read. */
export type StepState = Omit<StepDoc, "_id" | "rev" | "output"> & { output?: string | null };

/** One that is in the collection, as it is there. */
export type StoredStep = StepState & Pick<StepDoc, "_id" | "rev">;

/**
 * The step after a report.
 * @param before null where there is none of this key yet
 * @param tick grows with every report on the job
 * @throws AppError invalid_body when it is new and has no stepName
 */
export function reportedStep(
  before: StepState | null,
  job: JobRef,
  stepKey: string,
  change: StepChange,
  now: Date,
  tick: number,
): StepState {
  const { stepName, status, progress, message, output } = change;
  const isRestart = status === "running" && before !== null && before.status !== "running";
  const step = before ?? newStep(job, stepKey, change, now);
  return {
    ...step,
    ...(stepName !== undefined && { stepName }),
    ...(status !== undefined && { status, endedAt: endedAt(step, status, now) }),
    ...(progress !== undefined && { progress }),
    ...(message !== undefined && { message }),
    ...(output !== undefined && { output }),
    ...(isRestart && { startedAt: now, attempts: step.attempts + 1 }),
    updatedAt: later(step.updatedAt, now),
    reportedAt: Math.max(step.reportedAt + TICK, tick),
  };
}

function newStep({ _id, jobId }: JobRef, stepKey: string, { stepName }: StepChange, now: Date): StepState {
  if (stepName === undefined) {
    const detail = "is required in the report that creates the step";
    throw new AppError("invalid_body", { detail: `stepName ${detail}.`, errors: [{ pointer: "/stepName", detail }] });
  }
  return {
    ...{ stepId: randomUUID(), jobId, job: _id, stepKey, stepName },
    ...{ status: "running", progress: 0, message: null, output: null, attempts: 1, reportedAt: 0 },
    ...{ createdAt: now, updatedAt: now, startedAt: now, endedAt: null },
  };
}

/** So small that thousands go into a millisecond, and large enough for a number to hold beside today's time. */
export const TICK = 1 / 1024;

/** A status that is reported again keeps the time of its first report. */
export function endedAt(
  before: { readonly status: string; readonly endedAt: Date | null },
  status: string,
  now: Date,
): Date | null {
  if (status === "running") return null;
  return before.status === status ? (before.endedAt ?? now) : now;
}

export const later = (one: Date | null, other: Date): Date => (one !== null && one > other ? one : other);
