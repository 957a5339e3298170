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

/** Options that most commands share. They may stand before the command. The group captures a separate value. */
const SHARED_OPTION = /^--(?:json$|url=|(url)$)/;

/** Returns the words in the order that commander accepts. */
function rearrange(program: Command, words: readonly string[]): readonly string[] {
  const [word = "", ...args] = words;
  // commander's own help command takes only one word: `help jobs list` would show the help of jobs.
  if (word === "help" && args.length > 1) return [...args, "--help"];
  const { path, moved, rest } = splitSharedOptions(program, words);
  const end = rest.includes("--") ? rest.indexOf("--") : rest.length;
  return [...path, ...rest.toSpliced(end, 0, ...moved)];
}

/** Splits words into the names of the commands, the shared options before the last of these names, and the rest. */
function splitSharedOptions(program: Command, words: readonly string[]) {
  const path: string[] = [];
  const moved: string[] = [];
  let command = program;
  let at = 0;
  while (at < words.length && command.commands.length > 0) {
    const word = words[at] as string;
    const option = SHARED_OPTION.exec(word);
    const subcommand = command.commands.find((one) => one.name() === word);
    const length = option?.[1] ? 2 : 1;
    if (option && words.length >= at + length + 1) moved.push(...words.slice(at, at + length));
    else if (subcommand) {
      path.push(word);
      command = subcommand;
    } else break;
    at += length;
  }
  return { path, moved, rest: words.slice(at) };
}
