import { CommanderError } from "commander";
import { StartError } from "../shared/lifecycle.ts";
import { cleanText } from "./terminal/cleanText.ts";

/** What the command line ends with; 0 is all well, 128 and above a signal as shells count it. */
export const EXIT = {
  /** The job, the run or the check failed, or something on this machine is not usable. */
  failed: 1,
  /** The command was not understood. */
  usage: 2,
  /** The service cannot be reached, or has refused. */
  service: 3,
  interrupted: 130,
  outputClosed: 141,
} as const;

/** A command that cannot go on: the sentence for the person, and what to end with. */
export class CommandError extends StartError {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** What a command ends with that has thrown, and what is still to be said. */
export function exitFor(error: unknown): { exitCode: number; message?: string } {
  // commander has said what was wrong, or what was asked for
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : EXIT.usage };
  if (error instanceof CommandError) return { exitCode: error.exitCode, message: cleanText(error.message) };
  if (error instanceof StartError) return { exitCode: EXIT.failed, message: cleanText(error.message) };
  return { exitCode: EXIT.failed, message: cleanText((error as Error).stack ?? String(error)) };
}
