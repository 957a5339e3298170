import type { Command } from "commander";
import type { Environment } from "./command.ts";
import { exitFor } from "./exit.ts";
import { buildProgram } from "./program.ts";

/** Runs a command, and sets `process.exitCode` after an error. */
export async function runCommandLine(words: readonly string[], environment: Environment): Promise<void> {
  try {
    // The script of `completion` names all commands.
    const program = await buildProgram(environment, words[0] === "completion" ? undefined : words);
    // commander's own help command takes only one word, and prints the help of the program for one that it does not know.
    const parsed = words[0] === "help" ? helpWords(program, words.slice(1)) : words;
    await program.parseAsync(parsed, { from: "user" });
  } catch (error) {
    const { exitCode, message } = exitFor(error);
    if (message) process.stderr.write(`${message}\n`);
    process.exitCode = exitCode;
  }
}

const subcommand = (command: Command, word: string | undefined) => command.commands.find((one) => one.name() === word);

/** Returns whether a command does nothing by itself. */
const isGroup = (command: Command) => command.commands.length > 0 && command.registeredArguments.length === 0;

/**
 * Returns the words that print the help of a command: `jobs list` becomes `jobs list --help`. An unknown word in a group ends
 * them, so that commander reports it.
 */
function helpWords(command: Command, [word, ...rest]: readonly string[]): string[] {
  const next = subcommand(command, word);
  if (word !== undefined && next) return [word, ...helpWords(next, rest)];
  return word !== undefined && isGroup(command) ? [word] : ["--help"];
}
