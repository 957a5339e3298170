import { createInterface } from "node:readline/promises";
import { CommandError, EXIT } from "../exit.ts";

/** Returns whether there is a terminal at which a person can confirm. */
export const canConfirm = (): boolean => process.stdin.isTTY === true && process.stderr.isTTY === true;

/**
 * Asks for confirmation at the terminal.
 * @param otherwise the message if the user does not confirm
 * @throws CommandError unless the user confirms
 */
export async function confirm(question: string, otherwise: string): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stderr });
  const interrupt = new AbortController();
  const { signal } = interrupt;
  terminal.once("SIGINT", () => interrupt.abort());
  try {
    const answer = await terminal.question(`${question} [y/N] `, { signal }).catch(() => "\n"); // Ctrl-C, Ctrl-D
    if (/^y(es)?$/i.test(answer.trim())) return;
    const exitCode = signal.aborted ? EXIT.interrupted : EXIT.failed;
    throw new CommandError(exitCode, `${answer === "\n" ? "\n" : ""}${otherwise}`);
  } finally {
    terminal.close();
  }
}
