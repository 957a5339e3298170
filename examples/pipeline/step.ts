import type { StepReporter } from "signalbox/client";

/** The input of a step's code. */
interface Workplace {
  /** The absolute path of the folder to analyse. */
  readonly folder: string;
  /** The absolute path of the Markdown report; the JSON report is next to it. */
  readonly out: string;
  readonly report: StepReporter;
  /** The previous step's output from the service. */
  readonly previous: unknown;
  /** The output of this step's earlier attempt; null without one. */
  readonly own: unknown;
  /** Whether this attempt fails half-way, for demonstration. */
  readonly flaky: boolean;
  /** Aborted when the job is cancelled. The code of the step then stops by throwing an error. */
  readonly signal: AbortSignal;
  /** Waits before one of `count` files, so that a demonstration is slow enough to watch. Throws when the job is cancelled. */
  readonly pace: (count: number) => Promise<void>;
}

/** The code of one step. It does its work and reports on it; the orchestrator handles order and retries. */
export type StepCode = (work: Workplace) => Promise<void>;

/** A failed attempt that may be retried. `output` is stored for the next attempt. */
export class AttemptFailed extends Error {
  readonly output: object | undefined;

  constructor(message: string, output?: object) {
    super(message);
    this.output = output;
  }
}

/** A failure that a retry would not fix. */
export class Hopeless extends Error {}

/** Returns the progress for `part` of `whole`, below 100 until the step is completed. */
export const progressOf = (part: number, whole: number): number => (whole === 0 ? 0 : (part / whole) * 99);

/** A file or folder that could not be read, and why. */
export interface Problem {
  readonly path: string;
  readonly why: string;
}

/** Formats a problem for the report. */
export function whyNot(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "has vanished";
  if (code === "EACCES" || code === "EPERM") return "may not be read";
  return code ?? message;
}
