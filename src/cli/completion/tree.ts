import type { Command, Option } from "commander";

export interface CompletedOption {
  /** The long name, such as `--status`, and the short one if there is one. */
  readonly names: readonly string[];
  readonly description: string;
  /** The kind of the option's value, or the possible values. */
  readonly value: "none" | "file" | "free" | readonly string[];
}

/** One command in the form that completion needs. */
export interface CompletedCommand {
  /** The words of the command, such as `jobs list`; empty for the program itself. */
  readonly path: string;
  readonly subcommands: readonly { readonly name: string; readonly description: string }[];
  /** The possible values of its arguments, if these are limited. */
  readonly choices: readonly string[];
  readonly options: readonly CompletedOption[];
}

/** Returns this command and all commands below it. */
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

/** Returns `path option` for each option whose value has the kind. */
export const placesOf = (
  commands: readonly CompletedCommand[],
  isKind: (value: CompletedOption["value"]) => boolean,
): string[] =>
  commands.flatMap(({ path, options }) =>
    options.flatMap(({ names, value }) => (isKind(value) ? names.map((name) => `${path} ${name}`) : [])),
  );

/** Returns each list of possible values with the `path option` of the options that use it. */
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
