const UNIT_MS = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** The pattern of durations: an integer and a unit, such as `90s`, `30m`, `12h`, `30d`, `2w`. */
export const DURATION_PATTERN = "^[1-9][0-9]{0,6}(s|m|h|d|w)$";

/** The pattern of intervals: a duration, or `off`. */
export const INTERVAL_PATTERN = `${DURATION_PATTERN}|^off$`;

/** Returns a duration in milliseconds. The text must match DURATION_PATTERN. */
export function durationMs(text: string): number {
  return Number(text.slice(0, -1)) * UNIT_MS[text.slice(-1) as keyof typeof UNIT_MS];
}

/** Whether a date or time that begins with YYYY-MM-DD exists: `Date` alone reads 2026-02-30 as the second of March. */
export function isTime(text: string): boolean {
  const day = text.slice(0, 10);
  const date = new Date(`${day}T00:00:00Z`);
  return !Number.isNaN(Date.parse(text)) && !Number.isNaN(date.getTime()) && date.toISOString().startsWith(day);
}
