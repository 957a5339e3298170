import type { Argument, Command, Option } from "commander";
import { EXIT } from "../../src/cli/exit.ts";
import { buildProgram } from "../../src/cli/program.ts";
import { expectRecorded } from "./recorded.ts";

describe("the command line", () => {
  it("has the recorded commands, each with its arguments and options, their defaults and choices", async () => {
    const program = await buildProgram(async () => ({}));

    expectRecorded("commands", Object.fromEntries(commandsOf(program)));
  });

  it("ends with the recorded exit codes", () => {
    expectRecorded("exitCodes", EXIT);
  });
});

function commandsOf(command: Command, parents: readonly string[] = []): [string, object][] {
  const path = [...parents, command.name()];
  const own = {
    aliases: command.aliases(),
    isRunnable: command.registeredArguments.length > 0 || command.commands.length === 0,
    arguments: command.registeredArguments.map(argumentOf),
    options: Object.fromEntries(command.options.map((option) => [option.flags, optionOf(option)])),
  };
  return [[path.join(" "), own], ...command.commands.flatMap((child) => commandsOf(child, path))];
}

const argumentOf = (argument: Argument) => ({
  name: argument.name(),
  isRequired: argument.required,
  isVariadic: argument.variadic,
  default: argument.defaultValue,
  choices: argument.argChoices,
});

/** The flags say whether a value is needed, and whether there may be several. */
const optionOf = (option: Option) => ({
  ...(option.mandatory && { isMandatory: true }),
  ...(option.hidden && { isHidden: true }),
  default: option.defaultValue,
  preset: option.presetArg,
  choices: option.argChoices,
  env: option.envVar,
});
