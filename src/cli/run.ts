import { exitFor } from "./exit.ts";
import type { Environment } from "./program/environment.ts";
import { buildProgram } from "./program/program.ts";

/** Carries a command out; what the process is to end with stands in `process.exitCode`. */
export async function runCommandLine(words: readonly string[], environment: Environment): Promise<void> {
  const [word, ...args] = words;
  try {
    // commander's own help takes one word: `help jobs list` would be that of jobs
    const asked = word === "help" && args.length > 1 ? [...args, "--help"] : words;
    await buildProgram(environment).parseAsync(asked, { from: "user" });
  } catch (error) {
    const { exitCode, message } = exitFor(error);
    if (message) process.stderr.write(`${message}\n`);
    process.exitCode = exitCode;
  }
}
