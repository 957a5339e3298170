import { Argument, InvalidArgumentError, Option } from "commander";
import { CHANNELS } from "../shared/channelNames.ts";
import { decimalOf } from "../shared/text/decimal.ts";
import { DURATION_PATTERN, durationMs, isTime } from "../shared/text/duration.ts";
import { isObject } from "../shared/text/json.ts";
import { MAX_RECIPIENT } from "../shared/text/text.ts";
import { CommandError, EXIT } from "./exit.ts";

/* Parsers of options and arguments. Each throws InvalidArgumentError. */

export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };

/** Parses a number, which may have decimals. */
export const numberFrom =
  (least: number, most: number) =>
  (text: string): number => {
    const value = decimalOf(text, "number");
    if (value !== undefined && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
  };

/** Parses a JSON object. The parser's own message would quote the text. */
export function jsonObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    if (isObject(value)) return value;
  } catch {
    // The error below covers this case too.
  }
  throw new InvalidArgumentError(`It must be a JSON object, such as '{"rows": 500}'.`);
}

export function seconds(text: string): number {
  const value = decimalOf(text, "number");
  if (value !== undefined && value > 0) return value;
  throw new InvalidArgumentError("It must be a number of seconds greater than 0.");
}

/** A time on a day. Date guesses other texts: it reads 45, a typing error for 45d, as 2045. */
const TIME_PATTERN = /^(19|20)\d\d-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?$/;
/** A year, a month or a day. */
const DATE_PATTERN = /^((?:19|20)\d\d)(?:-(\d\d)(?:-(\d\d))?)?$/;

/**
 * Parses a time, a date, `today`, `yesterday` or a duration before now, and returns the time in ISO 8601. A date stands for
 * its beginning in the time zone of this machine.
 */
export function timeOrAge(text: string): string {
  const ago = text.replace(/ ago$/, "");
  if (new RegExp(DURATION_PATTERN).test(ago)) return new Date(Math.max(0, Date.now() - durationMs(ago))).toISOString();
  const time = beginningOf(text) ?? new Date(TIME_PATTERN.test(text) && isTime(text) ? text : Number.NaN);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidArgumentError(
    "It must be a date such as 2026-03-01, a time such as 2026-03-01T12:00:00Z, today, yesterday, or a duration before now such as 2h or 7d.",
  );
}

/** Returns the beginning of a date; undefined if the text is not a date of the calendar. */
function beginningOf(text: string): Date | undefined {
  const now = new Date();
  if (text === "today") return new Date(now.getFullYear(), now.getMonth(), now.getDate());
  if (text === "yesterday") return new Date(now.getFullYear(), now.getMonth(), now.getDate() - 1);
  const [, year, month = "01", day = "01"] = DATE_PATTERN.exec(text) ?? [];
  if (year === undefined) return undefined;
  return isTime(`${year}-${month}-${day}`) ? new Date(Number(year), Number(month) - 1, Number(day)) : undefined;
}

export type Pairs = Readonly<Record<string, readonly string[]>>;

/** Parses `key=value`, which may be repeated. */
export function pair(text: string, previous: Pairs = {}): Pairs {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must have the form key=value.");
  const key = text.slice(0, at);
  return { ...previous, [key]: [...(previous[key] ?? []), text.slice(at + 1)] };
}

/** Parses `name: value`, which may be repeated. */
export function header(
  line: string,
  previous: Readonly<Record<string, string>> = {},
): Readonly<Record<string, string>> {
  const at = line.indexOf(":");
  if (at < 1) throw new InvalidArgumentError('It must have the form "name: value".');
  return { ...previous, [line.slice(0, at).trim()]: line.slice(at + 1).trim() };
}

/** Parses a name that becomes one segment of a URL's path. */
export function name(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new InvalidArgumentError("It cannot be part of a URL.");
  return text;
}

export const names = (text: string, previous: readonly string[] = []): readonly string[] => [...previous, name(text)];

/** Parses the name of a hook, in which / separates segments of a URL's path. */
export const hookName = (text: string): string => text.split("/").map(name).join("/");

/** Returns an option with a limited set of values that may be repeated. */
export function choicesOption(flags: string, description: string, words: readonly string[]): Option {
  const option = new Option(flags, `${description} (repeatable)`).choices(words);
  return option.argParser((word: string, previous: readonly string[] = []) => {
    if (words.includes(word)) return [...previous, word];
    throw new InvalidArgumentError(`Allowed choices are ${words.join(", ")}.`);
  });
}

/** Returns an argument for any channel, configured or not. */
export const channelArgument = () => new Argument("<channel>", "name of the channel").choices(CHANNELS);

/** Returns a recipient without surrounding white space. @throws CommandError if it is empty or too long */
export function parseRecipient(typed: string): string {
  const to = typed.trim();
  if (to === "")
    throw new CommandError(EXIT.usage, "The recipient is empty: pass it in the form that the channel uses.");
  if (to.length > MAX_RECIPIENT)
    throw new CommandError(EXIT.usage, `The recipient is too long: it can have at most ${MAX_RECIPIENT} characters.`);
  return to;
}

/** Returns the options that were given. */
export const given = <T extends object>(options: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
