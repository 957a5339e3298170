/** The progress of a job at the time of a report. */
export interface ProgressPoint {
  /** Milliseconds since the epoch. */
  readonly at: number;
  /** In percent. */
  readonly progress: number;
}

/** Span before the last report, in milliseconds, whose rate counts. */
const WINDOW_MS = 10 * 60_000;
/** Minimum span of an estimate, in milliseconds: the rate of less is chance. */
const MIN_SPAN_MS = 20_000;
/** Factor by which the rates of the two halves of the span may differ. */
const MAX_RATIO = 1.5;
/** Silence after which a job counts as stuck, as a multiple of the mean time between its reports. */
const MAX_SILENCE = 3;
/** Maximum number of points that are kept. */
const MAX_POINTS = 100;

/** Adds a report to the points, and drops those that no longer count. Progress that does not grow is a point too. */
export function withPoint(points: readonly ProgressPoint[], point: ProgressPoint): readonly ProgressPoint[] {
  const last = points.at(-1);
  if (last && point.at <= last.at) return points;
  return [...points.filter(({ at }) => at >= point.at - WINDOW_MS), point].slice(-MAX_POINTS);
}

/**
 * Estimates how long a job still takes, in milliseconds, from its latest reports; null unless it progresses steadily.
 * @param points oldest first
 */
export function timeLeft(points: readonly ProgressPoint[], now: number): number | null {
  const [first, last] = [points[0], points.at(-1)];
  if (!first || !last || points.length < 3 || last.progress <= 0 || last.progress >= 100) return null;
  const span = last.at - first.at;
  const silence = Math.max(0, now - last.at);
  if (span < MIN_SPAN_MS || silence > (MAX_SILENCE * span) / (points.length - 1)) return null;
  const middle = nearest(points.slice(1, -1), first.at + span / 2);
  const [before, after] = [rateOf(first, middle), rateOf(middle, last)];
  if (before <= 0 || after <= 0 || Math.max(before / after, after / before) > MAX_RATIO) return null;
  const left = (100 - last.progress) / rateOf(first, last) - silence;
  return left > 0 ? left : null;
}

const rateOf = (from: ProgressPoint, to: ProgressPoint): number => (to.progress - from.progress) / (to.at - from.at);

const nearest = (points: readonly ProgressPoint[], at: number): ProgressPoint =>
  points.reduce((best, point) => (Math.abs(point.at - at) < Math.abs(best.at - at) ? point : best));

const [SECOND, MINUTE, HOUR, DAY] = [1_000, 60_000, 3_600_000, 86_400_000];
/** The unit of an estimate up to a time: it is no more precise than the rate. */
const PRECISIONS = [
  [MINUTE, 10 * SECOND],
  [HOUR, MINUTE],
  [6 * HOUR, 10 * MINUTE],
  [2 * DAY, HOUR],
  [Number.POSITIVE_INFINITY, DAY],
] as const;

/** Rounds an estimate, to at least 10 seconds. */
export function roundEstimate(ms: number): number {
  const [, unit] = PRECISIONS.find(([limit]) => ms <= limit) ?? PRECISIONS[0];
  return Math.max(1, Math.round(ms / unit)) * unit;
}
