import { type CronExpression, CronExpressionParser } from "cron-parser";

/** More than the hour by which clocks change. */
const CLOCK_CHANGE_MS = 61 * 60_000;

const parse = (cron: string, timezone: string, currentDate: Date): CronExpression =>
  CronExpressionParser.parse(cron, { tz: timezone, currentDate });

/** Returns what is wrong with a cron expression, as the end of a sentence; undefined if nothing is. */
export function cronFault(cron: string): string | undefined {
  const fields = cron.trim().split(/\s+/);
  if (fields.length !== 5) return "must have five fields: minute, hour, day of month, month and day of week";
  try {
    parse(cron, "UTC", new Date(0)).next();
    return undefined;
  } catch (error) {
    return `is no cron expression: ${(error as Error).message}`;
  }
}

/** Returns whether a name is that of a time zone. */
export function isTimezone(name: string): boolean {
  try {
    new Intl.DateTimeFormat("en", { timeZone: name });
    return true;
  } catch {
    return false;
  }
}

/**
 * Returns the first time of a cron expression after another one. When clocks go forward, a time that they leave out comes an hour
 * later by the clock; when they go back, a time of one hour that comes twice counts once.
 */
export const nextCron = (cron: string, timezone: string, after: Date): Date =>
  parse(cron, timezone, after).next().toDate();

/** Returns the last time of a cron expression that is not after another one. Agrees with `nextCron`. */
export function lastCron(cron: string, timezone: string, until: Date): Date {
  const before = parse(cron, timezone, new Date(until.getTime() + 1))
    .prev()
    .toDate();
  // Backwards, the library leaves out times that clocks leave out, and takes the second of two equal ones.
  let last = before;
  const times = parse(cron, timezone, new Date(before.getTime() - CLOCK_CHANGE_MS));
  for (let next = times.next().toDate(); next <= until; next = times.next().toDate()) last = next;
  return last;
}
