import type { Gate, JobSummary, StepSummary } from "../../../client/client.ts";

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
  ...[1, 2, 5, 10, 20, 50, 100, 200, 500],
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

/** Returns the time axis for a job and what is drawn on it. That of a running job reaches to its usual end. */
export function axisOf(job: JobSummary, lanes: readonly Lane[], end: number, maxTicks: number): Axis {
  const all = lanes.flat();
  const from = all.reduce((least, one) => Math.min(least, one.from), Date.parse(job.createdAt));
  const least = job.status === "running" ? Math.max(end, usualEndOf(job) ?? 0) : end;
  const to = all.reduce((most, one) => Math.max(most, one.to), Math.max(least, from + 1));
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

/** A bar on the time strip: a step, its earlier attempts, or neighbouring steps of one state. */
export interface Mark {
  readonly kind: string;
  readonly from: number;
  readonly to: number;
  readonly title: string;
  /** The name of the person for whom the job waited. */
  readonly label?: string;
  /** The step that the mark stands for; undefined for several. */
  readonly stepKey?: string;
}

/** Marks on one line of the strip. */
export type Lane = readonly Mark[];

/** Maximum number of lines of the strip, and of steps that have a mark of their own. */
const MAX_LANES = 4;
const MAX_MARKS = 60;
/** The share of the strip below which the gap between two marks cannot be seen. */
const GAP = 1 / 400;

/**
 * Returns the lines of the time strip. A few steps have a mark each, on the first line that is free at its time; of many, each
 * state has a line, on which neighbours are one mark.
 */
export function lanesOf(job: JobSummary, steps: readonly StepSummary[], end: number): Lane[] {
  return steps.length <= MAX_MARKS ? singleLanes(job, steps, end) : stateLanes(job, steps, end);
}

function singleLanes(job: JobSummary, steps: readonly StepSummary[], end: number): Lane[] {
  const lanes: Mark[][] = [];
  for (const step of steps.toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))) {
    const { stepKey, stepName: title } = step;
    const { from, to, earlierFrom } = barOf(step, end);
    const isFree = (lane: Mark[]) => (lane.at(-1)?.to ?? 0) <= (earlierFrom ?? from);
    const free = lanes.find(isFree) ?? (lanes.length < MAX_LANES ? [] : lanes.reduce(endsFirst));
    if (!lanes.includes(free)) lanes.push(free);
    if (earlierFrom !== null) free.push({ kind: "earlier", from: earlierFrom, to: from, title, stepKey });
    free.push({ kind: shownStepStatus(step, job), from, to, title, stepKey });
  }
  return lanes;
}

const endsFirst = (a: Mark[], b: Mark[]): Mark[] => ((a.at(-1)?.to ?? 0) <= (b.at(-1)?.to ?? 0) ? a : b);

function stateLanes(job: JobSummary, steps: readonly StepSummary[], end: number): Lane[] {
  const bars = steps.map((step) => ({ kind: shownStepStatus(step, job), ...barOf(step, end) }));
  const first = bars.reduce((least, { from }) => Math.min(least, from), end);
  const gap = (end - first) * GAP;
  const ofKind = (kind: string): Lane => {
    const marks: { kind: string; from: number; to: number; title: string }[] = [];
    for (const { from, to } of bars.filter((bar) => bar.kind === kind).sort((a, b) => a.from - b.from)) {
      const last = marks.at(-1);
      if (last && from <= last.to + gap) last.to = Math.max(last.to, to);
      else marks.push({ kind, from, to, title: kind });
    }
    return marks;
  };
  return ["failed", "running", "left-open", "completed"].map(ofKind).filter((lane) => lane.length > 0);
}

const LABELS: Readonly<Record<string, string>> = { open: "waiting", expired: "expired" };

/** Returns the gates of a job as a line of the time strip, with the names of those who answered. */
export const gateLane = (gates: readonly Gate[], end: number): Lane =>
  gates.map(({ title, status, createdAt, answeredAt, answeredBy }) => {
    const to = answeredAt === null ? end : Date.parse(answeredAt);
    return { kind: "gate", from: Date.parse(createdAt), to, title, label: LABELS[status] ?? answeredBy ?? status };
  });
