import type { Command } from "commander";
import { name, names, wholeNumber } from "./arguments.ts";
import type { ServiceOptions } from "./serviceAccess.ts";

/** Returns the environment variables for a command, including those of the file `.env`. Called only when a command runs. */
export type Environment = () => Promise<NodeJS.ProcessEnv>;

/** Adds arguments, options, examples and the action of a command. */
export type Define = (command: Command, environment: Environment) => Command;

/** A command or a group of commands. */
export interface Entry {
  readonly description: string;
  /** Loads what a command does, with its arguments, options and examples. A group has none. */
  readonly load?: () => Promise<Define>;
  /** The examples of a group. */
  readonly examples?: readonly string[];
  readonly commands?: Readonly<Record<string, Entry>>;
}

/** The options of most commands that call the service. */
export interface JsonOptions extends ServiceOptions {
  /** Whether to print JSON instead of text for people. */
  readonly json?: boolean;
}

const EXAMPLES = new WeakMap<Command, readonly string[]>();

/** Adds examples to a command's help and to docs/reference/cli.md. */
export function withExamples(command: Command, ...lines: readonly string[]): Command {
  EXAMPLES.set(command, lines);
  return command.addHelpText(
    "after",
    `\n${lines.length > 1 ? "Examples" : "Example"}:\n${lines.map((line) => `  ${line}`).join("\n")}`,
  );
}

export const examplesOf = (command: Command): readonly string[] => EXAMPLES.get(command) ?? [];

/** Adds the option --url, and parses arguments as names in a URL, for a command that calls the running service. */
export function serviceCommand(command: Command): Command {
  for (const argument of command.registeredArguments) {
    if (argument.variadic) argument.argParser(names);
    else if (!argument.parseArg) argument.argParser(name);
  }
  return withUrl(command);
}

/** Adds the option --url. */
export const withUrl = (command: Command): Command =>
  command.option("--url <url>", "address of the service (default: SIGNALBOX_URL, else the service of this folder)");

/** Adds the options of commands that print a table of the service. */
export const tableCommand = (command: Command): Command =>
  serviceCommand(
    command
      .option("--wide", "do not truncate any column of the table")
      .option("--json", "print one line of JSON for each row"),
  );

/** Adds the options of commands that list rows of the service. */
export const listCommand = (command: Command): Command =>
  tableCommand(
    command
      .option("--limit <n>", "maximum number of rows", wholeNumber(1, 1_000_000), 100)
      .option("--all", "print every row"),
  );
