import type { Command } from "commander";

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
