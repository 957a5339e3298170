import type { Command, Option } from "commander";

export interface CompletedOption {
  /** Such as `--status`; a short one too where there is one. */
  readonly names: readonly string[];
  readonly description: string;
  /** What follows it. */
  readonly value: "none" | "file" | "free" | readonly string[];
}

/** One command as completion sees it. */
export interface CompletedCommand {
  /** The words that lead to it, such as `jobs list`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  /** What its arguments may be, where that is a choice. */
  readonly choices: readonly string[];
  readonly options: readonly CompletedOption[];
}

/** Every command below this one, and itself. */
export function completedCommands(command: Command, path = ""): CompletedCommand[] {
  const help = command.createHelp();
  const subcommands = help.visibleCommands(command).filter((one) => one.name() !== "help");
  return [
    {
      path,
      subcommands: subcommands.map((one) => ({ name: one.name(), description: help.subcommandDescription(one) })),
      choices: command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices),
      options: help.visibleOptions(command).map(completedOption),
    },
    ...subcommands.flatMap((one) => completedCommands(one, `${path} ${one.name()}`.trim())),
  ];
}

function completedOption(option: Option): CompletedOption {
  const { short, long, description, argChoices, flags, required, optional } = option;
  const names = [long, short].filter((name) => name !== undefined);
  if (!required && !optional) return { names, description, value: "none" };
  return { names, description, value: argChoices ?? (/<file>/.test(flags) ? "file" : "free") };
}

/** `path option` of those options that a value of a kind follows. */
export const placesOf = (
  commands: readonly CompletedCommand[],
  isKind: (value: CompletedOption["value"]) => boolean,
): string[] =>
  commands.flatMap(({ path, options }) =>
    options.flatMap(({ names, value }) => (isKind(value) ? names.map((name) => `${path} ${name}`) : [])),
  );

/** The options that take one of some words, each list with its places. */
export function choicePlaces(commands: readonly CompletedCommand[]): { words: readonly string[]; places: string[] }[] {
  const lists = commands.flatMap(({ options }) =>
    options.flatMap(({ value }) => (Array.isArray(value) ? [value] : [])),
  );
  const distinct = [...new Map(lists.map((words: string[]) => [words.join(" "), words])).values()];
  return distinct.map((words) => ({
    words,
    places: placesOf(commands, (value) => Array.isArray(value) && value.join(" ") === words.join(" ")),
  }));
}
