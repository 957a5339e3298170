import type { JobHistory } from "../../wire/stats.ts";

/** Returns the end of an axis for a maximum: 1, 2 or 5 times a power of ten, at least 1. */
export function axisEnd(max: number): number {
  if (max <= 1) return 1;
  const power = 10 ** Math.floor(Math.log10(max));
  return ([1, 2, 5, 10].find((factor) => factor * power >= max) ?? 10) * power;
}

const [MINUTE, HOUR, DAY_SECONDS] = [60, 3_600, 86_400];
/** Ends of an axis of durations, in seconds: durations that people read at a glance. */
const DURATION_ENDS = [
  1,
  2,
  5,
  10,
  20,
  30,
  ...[1, 2, 5, 10, 20, 30].map((minutes) => minutes * MINUTE),
  ...[1, 2, 4, 8, 12].map((hours) => hours * HOUR),
];

/** Returns the end of an axis for a maximum duration in seconds, such as 1 h for 41 min. */
export const durationAxisEnd = (max: number): number =>
  DURATION_ENDS.find((end) => end >= max) ?? axisEnd(max / DAY_SECONDS) * DAY_SECONDS;

const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "short" });
const DAY = new Intl.DateTimeFormat(undefined, { weekday: "short", hour: "2-digit", minute: "2-digit" });

/** Formats the start of a period: with the day in a week, otherwise as a time. */
export const periodStart = (span: JobHistory["span"], start: string): string =>
  (span === "week" ? DAY : CLOCK).format(new Date(start));

/** Sums one figure of all periods. */
export const sumOf = (periods: JobHistory["periods"], field: "started" | "completed" | "failed"): number =>
  periods.reduce((sum, period) => sum + period[field], 0);
