/**
 * A histogram of durations: how many durations fall into each bucket. Bucket `i` holds those up to `BASE ** i` milliseconds, so
 * that a quantile has a relative error of at most 5 %. Source: https://arxiv.org/abs/1908.10693 (DDSketch).
 */
export type Durations = Readonly<Record<string, number>>;

const BASE = 1.1;

/** Returns the bucket of a duration in milliseconds. */
export const bucketOf = (ms: number): number => Math.max(0, Math.ceil(Math.log(Math.max(1, ms)) / Math.log(BASE)));

/** Adds the counts of one histogram to another. */
export function addDurations(sum: Record<string, number>, more: Durations): void {
  for (const [bucket, count] of Object.entries(more)) sum[bucket] = (sum[bucket] ?? 0) + count;
}

/** Returns a quantile in milliseconds, such as 0.95 for p95, or null without durations. */
export function quantile(durations: Durations, share: number): number | null {
  const buckets = Object.entries(durations)
    .map(([bucket, count]) => [Number(bucket), count] as const)
    .sort(([a], [b]) => a - b);
  const total = buckets.reduce((sum, [, count]) => sum + count, 0);
  let rank = Math.max(1, Math.ceil(total * share));
  for (const [bucket, count] of buckets) {
    rank -= count;
    if (rank <= 0) return (2 * BASE ** bucket) / (BASE + 1);
  }
  return null;
}
