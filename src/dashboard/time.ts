const UNITS = [
  [86_400, "d"],
  [3_600, "h"],
  [60, "min"],
  [1, "s"],
] as const;

/** Formats a duration like `3 min`, `2 h 5 min` or `4 d`; adds the smaller unit to hours and minutes below 10. */
export function duration(ms: number): string {
  if (ms < 1_000) return ms < 1 ? "0 s" : `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  const at = UNITS.findIndex(([size]) => seconds >= size);
  const [size, unit] = UNITS[at] ?? UNITS[3];
  const next = UNITS[at + 1];
  const rest = next && at > 0 ? Math.floor((seconds % size) / next[0]) : 0;
  const whole = Math.floor(seconds / size);
  return rest > 0 && next && whole < 10 ? `${whole} ${unit} ${rest} ${next[1]}` : `${whole} ${unit}`;
}

/** Formats a time like `just now`, `12 s ago`, `3 h ago` or, in the future, `in 5 min`. */
export function ago(time: string, now: number): string {
  const ms = now - Date.parse(time);
  if (Math.abs(ms) < 1_500) return "just now";
  const seconds = Math.round(Math.abs(ms) / 1_000);
  const [size, unit] = UNITS.find(([size]) => seconds >= size) ?? UNITS[3];
  const text = `${Math.floor(seconds / size)} ${unit}`;
  return ms < 0 ? `in ${text}` : `${text} ago`;
}

const FULL = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "long" });
const CLOCK = new Intl.DateTimeFormat(undefined, { timeStyle: "medium" });
const DAY = new Intl.DateTimeFormat(undefined, { dateStyle: "medium", timeStyle: "medium" });

/** Formats a date and time in the browser's time zone, with the zone. */
export const absolute = (time: string): string => FULL.format(new Date(time));

/** Formats a time, with the date unless it is today. */
export function clockTime(time: string, now: number): string {
  const date = new Date(time);
  return new Date(now).toDateString() === date.toDateString() ? CLOCK.format(date) : DAY.format(date);
}

export const count = (n: number): string => n.toLocaleString();

export function bytes(n: number): string {
  if (n < 1_000) return `${n} B`;
  return n < 1_000_000 ? `${(n / 1_000).toFixed(1)} kB` : `${(n / 1_000_000).toFixed(1)} MB`;
}
