import { CommanderError } from "commander";
import { StartError } from "../shared/process/lifecycle.ts";
import { cleanText } from "./terminal/cleanText.ts";

/** Exit codes of the command line. 0 means success; 128 and above mean a signal, as in shells. */
export const EXIT = {
  /** The job, the run or the check failed, cancellation is requested, or something on this machine is not usable. */
  failed: 1,
  /** The command or its arguments are invalid. */
  usage: 2,
  /** The service cannot be reached, or it rejected the request. */
  service: 3,
  interrupted: 130,
  outputClosed: 141,
} as const;

/** The failure of a command: a sentence for the user and the exit code. */
export class CommandError extends StartError {
  readonly exitCode: number;

  constructor(exitCode: number, message: string) {
    super(message);
    this.exitCode = exitCode;
  }
}

/** Returns the exit code for an error, and the message that is still to be printed. */
export function exitFor(error: unknown): { exitCode: number; message?: string } {
  // commander has already printed the error, or the requested help.
  if (error instanceof CommanderError) return { exitCode: error.exitCode === 0 ? 0 : EXIT.usage };
  if (error instanceof CommandError) return { exitCode: error.exitCode, message: cleanText(error.message) };
  if (error instanceof StartError) return { exitCode: EXIT.failed, message: cleanText(error.message) };
  if (isGmailMissing(error)) return { exitCode: EXIT.failed, message: GMAIL_MISSING };
  return { exitCode: EXIT.failed, message: cleanText((error as Error).stack ?? String(error)) };
}

/** The npm package of Signalbox leaves out the packages of the Gmail listener, which are large. */
function isGmailMissing(error: unknown): boolean {
  const { code, message = "" } = error as NodeJS.ErrnoException;
  return code === "ERR_MODULE_NOT_FOUND" && /'(@googleapis\/gmail|google-auth-library)'/.test(message);
}

/** The major versions of package.json. */
export const GMAIL_MISSING =
  "The packages that Gmail needs are not installed: run `npm install @googleapis/gmail@18 google-auth-library@10`.";
