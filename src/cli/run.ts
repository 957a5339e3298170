import { exitFor } from "./exit.ts";
import type { Environment } from "./program/environment.ts";
import { buildProgram } from "./program/program.ts";

/** Runs a command and sets `process.exitCode`. */
export async function runCommandLine(words: readonly string[], environment: Environment): Promise<void> {
  const [word, ...args] = words;
  try {
    // commander's own help command takes only one word: `help jobs list` would show the help of jobs.
    const asked = word === "help" && args.length > 1 ? [...args, "--help"] : words;
    await buildProgram(environment).parseAsync(asked, { from: "user" });
  } catch (error) {
    const { exitCode, message } = exitFor(error);
    if (message) process.stderr.write(`${message}\n`);
    process.exitCode = exitCode;
  }
}
