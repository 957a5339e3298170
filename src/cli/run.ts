import { exitFor } from "./exit.ts";
import type { Environment } from "./program/environment.ts";
import { buildProgram } from "./program/program.ts";

/** Runs a command and sets `process.exitCode`. */
export async function runCommandLine(words: readonly string[], environment: Environment): Promise<void> {
  try {
    await buildProgram(environment).parseAsync(rearrange(words), { from: "user" });
  } catch (error) {
    const { exitCode, message } = exitFor(error);
    if (message) process.stderr.write(`${message}\n`);
    process.exitCode = exitCode;
  }
}

/** Options that most commands share. They may stand before the command. The group captures a separate value. */
const SHARED_OPTION = /^--(?:json$|url=|(url)$)/;

/** Returns the words in the order that commander accepts. */
function rearrange(words: readonly string[]): readonly string[] {
  const [word = "", ...args] = words;
  // commander's own help command takes only one word: `help jobs list` would show the help of jobs.
  if (word === "help" && args.length > 1) return [...args, "--help"];
  const option = SHARED_OPTION.exec(word);
  if (!option || words.length < 2) return words;
  const length = option[1] ? 2 : 1;
  const rest = rearrange(words.slice(length));
  const end = rest.includes("--") ? rest.indexOf("--") : rest.length;
  return rest.toSpliced(end, 0, ...words.slice(0, length));
}
