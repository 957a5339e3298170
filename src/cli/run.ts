import type { Command } from "commander";
import { exitFor } from "./exit.ts";
import type { Environment } from "./program/environment.ts";
import { buildProgram } from "./program/program.ts";

/** Runs a command and sets `process.exitCode`. */
export async function runCommandLine(words: readonly string[], environment: Environment): Promise<void> {
  try {
    const program = buildProgram(environment);
    await program.parseAsync(rearrange(program, words), { from: "user" });
  } catch (error) {
    const { exitCode, message } = exitFor(error);
    if (message) process.stderr.write(`${message}\n`);
    process.exitCode = exitCode;
  }
}

/**
 * Returns the words in the order that commander accepts: the names of the commands, then the options that stand before the
 * last name, then the rest. Words that make no such command stay as they are, and commander names their fault.
 */
function rearrange(program: Command, words: readonly string[]): readonly string[] {
  const [word = "", ...args] = words;
  // commander's own help command takes only one word, and prints the help of the program for one that it does not know.
  if (word === "help") return helpWords(program, args);
  return place(program, words, []) ?? place(program, words, [], true) ?? words;
}

const subcommand = (command: Command, word: string | undefined) => command.commands.find((one) => one.name() === word);

/** Returns whether a command does nothing by itself. */
const isGroup = (command: Command) => command.commands.length > 0 && command.registeredArguments.length === 0;

/** Returns the words that print the help of a command; up to the first one that names none, for commander's error. */
function helpWords(command: Command, [word, ...rest]: readonly string[]): string[] {
  const next = subcommand(command, word);
  if (word !== undefined && next) return [word, ...helpWords(next, rest)];
  return word !== undefined && isGroup(command) ? [word] : ["--help"];
}

/**
 * @param early the options before the name of the command, each with its value
 * @param misspelt whether a word that names no command is taken for a misspelt name, which commander reports
 * @returns undefined if no command below this one takes these options
 */
function place(
  command: Command,
  words: readonly string[],
  early: readonly (readonly string[])[],
  misspelt = false,
): readonly string[] | undefined {
  const [word = "", ...rest] = words;
  const next = subcommand(command, word);
  if (next) {
    const placed = place(next, rest, early, misspelt);
    return placed && [word, ...placed];
  }
  if (word.startsWith("-") && command.commands.length > 0) {
    for (const length of wordCounts(command, word)) {
      const options = [...early, words.slice(0, length)];
      const placed = words.length > length && place(command, words.slice(length), options, misspelt);
      if (placed) return placed;
    }
  }
  if (isGroup(command)) return misspelt && /^[^-]/.test(word) ? words : undefined;
  return early.every((option) => takes(command, option)) ? [...early.flat(), ...words] : undefined;
}

/** Returns of how many words an option can consist, with its value, in the commands below this one. */
function wordCounts(command: Command, word: string): number[] {
  return [1, 2].filter((length) => below(command).some((one) => takes(one, [word, ""].slice(0, length))));
}

const below = (command: Command): Command[] => command.commands.flatMap((one) => [one, ...below(one)]);

function takes(command: Command, [word = "", value]: readonly string[]): boolean {
  const [flag, joined] = word.startsWith("--") ? word.split("=", 2) : [word];
  const option = command.options.find(({ long, short }) => flag === long || flag === short);
  return option !== undefined && option.required === (value !== undefined || joined !== undefined);
}
