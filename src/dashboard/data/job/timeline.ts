import type { JobSummary, StepSummary } from "../../../client/client.ts";

export interface Axis {
  /** Milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** Milliseconds since `from`. */
  readonly ticks: readonly number[];
}

export interface Bar {
  /** The start of the current attempt, in milliseconds since the epoch. */
  readonly from: number;
  readonly to: number;
  /** The start of the first attempt; null if there was only one. */
  readonly earlierFrom: number | null;
}

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
/** Distances of two ticks. */
const TICK_SIZES = [
  1,
  2,
  5,
  10,
  20,
  50,
  100,
  200,
  500,
  ...[1, 2, 5, 10, 15, 30].map((n) => n * SECOND),
  ...[1, 2, 5, 10, 15, 30].map((n) => n * MINUTE),
  ...[1, 2, 3, 6, 12].map((n) => n * HOUR),
  ...[1, 2, 7, 14, 30, 90, 365].map((n) => n * DAY),
];

/** Returns the end of a job: now while it runs, then the time of its last report. */
export const endOf = ({ status, lastReportAt, updatedAt }: JobSummary, now: number): number =>
  status === "running" ? now : Date.parse(lastReportAt ?? updatedAt);

/** Returns when a job usually ends; null without a history. */
export function usualEndOf({ status, createdAt, usual, expectedEndAt }: JobSummary): number | null {
  if (expectedEndAt !== null) return Date.parse(expectedEndAt);
  return usual && status !== "running" ? Date.parse(createdAt) + usual.p50Ms : null;
}

/** Returns the time axis for a job and its steps. That of a running job reaches to its usual end. */
export function axisOf(job: JobSummary, steps: readonly StepSummary[], end: number, maxTicks: number): Axis {
  const least = job.status === "running" ? Math.max(end, usualEndOf(job) ?? 0) : end;
  const from = steps.reduce(
    (least, { createdAt }) => Math.min(least, Date.parse(createdAt)),
    Date.parse(job.createdAt),
  );
  const to = steps.reduce((most, step) => Math.max(most, barOf(step, end).to), Math.max(least, from + 1));
  const span = to - from;
  const step = TICK_SIZES.find((size) => span / size <= maxTicks) ?? span;
  const ticks = Array.from({ length: Math.floor(span / step) + 1 }, (_, at) => at * step);
  return { from, to, ticks };
}

/** Whether a step has been without a report for the time after which its job becomes stale. */
export function isStepStale({ status, stale, lastReportAt }: StepSummary, job: JobSummary, now: number): boolean {
  if (status !== "running" || job.status !== "running") return false;
  if (!job.staleAt) return stale;
  const staleAfterMs = Date.parse(job.staleAt) - Date.parse(job.lastReportAt ?? job.createdAt);
  return now - Date.parse(lastReportAt) >= staleAfterMs;
}

/** Returns the status that the page shows: a step that still runs when its job has ended is left open. */
export const shownStepStatus = ({ status }: Pick<StepSummary, "status">, job: JobSummary): string =>
  status === "running" && job.status !== "running" ? "left-open" : status;

/** Returns the start and end of a step. The bar of a running step extends to the end of its job. */
export function barOf({ status, startedAt, updatedAt, createdAt, attempts }: StepSummary, end: number): Bar {
  const from = Date.parse(startedAt);
  const to = Math.max(from, status === "running" ? end : Date.parse(updatedAt));
  return { from, to, earlierFrom: attempts > 1 ? Date.parse(createdAt) : null };
}
