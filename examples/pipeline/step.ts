import type { StepReporter } from "signalbox/client";

/** What the code of a step has at hand. */
interface Workplace {
  /** The folder that is looked through, absolute. */
  readonly folder: string;
  /** Where the Markdown report goes, absolute; the JSON one lies beside it. */
  readonly out: string;
  readonly report: StepReporter;
  /** The output of the step before, as the service has it. */
  readonly previous: unknown;
  /** What this step's own record holds of an earlier attempt; null when there was none. */
  readonly own: unknown;
  /** For demonstration: this attempt is to fail half way. */
  readonly flaky: boolean;
}

/** The code of one step: it does its work, reports by itself, and knows nothing of order and retry. */
export type StepCode = (work: Workplace) => Promise<void>;

/** This attempt has failed and another may do better. `output` is what it leaves behind for that one. */
export class AttemptFailed extends Error {
  readonly output: object | undefined;

  constructor(message: string, output?: object) {
    super(message);
    this.output = output;
  }
}

/** No further attempt would help. */
export class Hopeless extends Error {}

/** How far it is with `part` of `whole`: below 100 until the step says that it is done. */
export const progressOf = (part: number, whole: number): number => (whole === 0 ? 0 : (part / whole) * 99);

/** Something that could not be looked at, and why. */
export interface Problem {
  readonly path: string;
  readonly why: string;
}

/** In the words of the report. */
export function whyNot(error: unknown): string {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return "has vanished";
  if (code === "EACCES" || code === "EPERM") return "may not be read";
  return code ?? message;
}
