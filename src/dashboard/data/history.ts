import type { NameHistory } from "../../wire/history.ts";

type Run = NameHistory["runs"][number];

/** Minimum completed jobs for a trend. */
const MIN_RUNS = 6;
/** The change of a duration that is no chance, as a share. */
const MIN_CHANGE = 0.2;

/** Returns whether the newer half of the completed jobs took longer than the older one; null for too few jobs. */
export function trendOf(runs: readonly Run[]): string | null {
  const durations = runs.filter(({ status }) => status === "completed").map(({ durationMs }) => durationMs);
  if (durations.length < MIN_RUNS) return null;
  const half = Math.floor(durations.length / 2);
  const [newer, older] = [medianOf(durations.slice(0, half)), medianOf(durations.slice(-half))];
  const change = newer / Math.max(1, older) - 1;
  if (Math.abs(change) < MIN_CHANGE) return "steady";
  if (change >= 1) return `↑ ${Number((change + 1).toPrecision(2))} times as long`;
  return change > 0 ? `↑ ${Math.round(change * 100)} % longer` : `↓ ${Math.round(-change * 100)} % shorter`;
}

const medianOf = (values: readonly number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? 0;

/** Returns the number of jobs by state in words. */
export function countsOf(runs: readonly Run[]): string {
  const counts = (["completed", "failed", "cancelled", "running"] as const).map(
    (status) => [status, runs.filter((run) => run.status === status).length] as const,
  );
  return counts
    .filter(([, count]) => count > 0)
    .map(([status, count]) => `${count} ${status}`)
    .join(", ");
}
