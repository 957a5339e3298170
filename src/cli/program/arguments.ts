import { Argument, type Command, InvalidArgumentError, Option } from "commander";
import { CHANNELS } from "../../shared/config/formats/channelNames.ts";
import { DURATION_PATTERN, durationMs } from "../../shared/config/formats/duration.ts";

/* Parsers of options and arguments. Each throws InvalidArgumentError. */

export const wholeNumber =
  (least: number, most: number) =>
  (text: string): number => {
    const value = Number(text);
    if (/^\d+$/.test(text) && value >= least && value <= most) return value;
    throw new InvalidArgumentError(`It must be a whole number from ${least} to ${most}.`);
  };

export function seconds(text: string): number {
  const value = Number(text);
  if (text.trim() !== "" && value > 0 && Number.isFinite(value)) return value;
  throw new InvalidArgumentError("It must be a number of seconds above 0.");
}

/** A year, month, day or time. Date guesses other texts: it reads 45, a typing error for 45d, as 2045. */
const TIME_PATTERN = /^(19|20)\d\d(-\d\d(-\d\d([T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?)?)?)?$/;

/** Parses a time, or a duration before now, and returns the time in ISO 8601. */
export function timeOrAge(text: string): string {
  const isAgo = new RegExp(DURATION_PATTERN).test(text);
  if (isAgo) return new Date(Math.max(0, Date.now() - durationMs(text))).toISOString();
  const time = new Date(TIME_PATTERN.test(text) ? text : Number.NaN);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new InvalidArgumentError("It must be a time such as 2026-03-01T12:00:00Z, or how long ago, such as 2h or 7d.");
}

export type Pairs = Readonly<Record<string, readonly string[]>>;

/** Parses `key=value`, which may be repeated. */
export function pair(text: string, known: Pairs = {}): Pairs {
  const at = text.indexOf("=");
  if (at < 1) throw new InvalidArgumentError("It must be key=value.");
  const key = text.slice(0, at);
  return { ...known, [key]: [...(known[key] ?? []), text.slice(at + 1)] };
}

/** Parses `name: value`, which may be repeated. */
export function header(line: string, known: Readonly<Record<string, string>> = {}): Readonly<Record<string, string>> {
  const at = line.indexOf(":");
  if (at < 1) throw new InvalidArgumentError('It must be "name: value".');
  return { ...known, [line.slice(0, at).trim()]: line.slice(at + 1).trim() };
}

/** Parses a name that becomes one segment of a URL's path. */
function name(text: string): string {
  if (/^\.{0,2}$/.test(text)) throw new InvalidArgumentError("No URL can carry it.");
  return text;
}

const names = (text: string, known: readonly string[] = []): readonly string[] => [...known, name(text)];

/** Parses the name of a hook, in which / separates segments of a URL's path. */
export const hookName = (text: string): string => text.split("/").map(name).join("/");

/** Returns an option with a limited set of values that may be repeated. */
export function choicesOption(flags: string, description: string, words: readonly string[]): Option {
  const option = new Option(flags, `${description}; may be repeated`).choices(words);
  return option.argParser((word: string, known: readonly string[] = []) => {
    if (words.includes(word)) return [...known, word];
    throw new InvalidArgumentError(`Allowed choices are ${words.join(", ")}.`);
  });
}

/** Adds the option --url, and parses arguments as names in a URL, for a command that calls the running service. */
export function serviceCommand(command: Command): Command {
  for (const argument of command.registeredArguments) {
    if (argument.variadic) argument.argParser(names);
    else if (!argument.parseArg) argument.argParser(name);
  }
  return command.option("--url <url>", "where the service is (SIGNALBOX_URL; by default the configured one)");
}

/** Adds the options of commands that list rows of the service. */
export const listCommand = (command: Command): Command =>
  serviceCommand(
    command
      .option("--limit <n>", "most rows", wholeNumber(1, 1_000_000), 100)
      .option("--all", "every row, however many")
      .option("--json", "print JSON, one line for each"),
  );

/** Returns an argument for any channel, configured or not. */
export const channelArgument = () => new Argument("<channel>", "the channel").choices(CHANNELS);
