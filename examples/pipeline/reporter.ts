import type { Signalbox } from "./signalbox.ts";

/**
 * What the orchestrator hands to the code of a step. It stays the same on retry and recovery, so that every report of
 * the step lands on the same record.
 */
export interface Assignment {
  readonly jobId: string;
  readonly stepKey: string;
  readonly stepName: string;
  readonly jobProgressStart: number;
  readonly jobProgressEnd: number;
}

export type Print = (stepKey: string, text: string) => void;

type Status = "running" | "completed" | "failed";
type Extra = { output?: object | undefined; failJob?: boolean };

const VISIBLE_POINTS = 5;

export const stepPath = (jobId: string, stepKey: string) =>
  `/api/jobs/${encodeURIComponent(jobId)}/steps/${encodeURIComponent(stepKey)}`;

/**
 * Reports on one step: on a stage, on visible progress, on completion and on failure; never the same thing twice in a
 * row. One report waits for the other, so that they arrive in order.
 */
export class Reporter {
  readonly #signalbox: Signalbox;
  readonly #assignment: Assignment;
  readonly #print: Print;
  #progress = 0;
  #sent = { progress: 0, said: "" };

  constructor(signalbox: Signalbox, assignment: Assignment, print: Print) {
    this.#signalbox = signalbox;
    this.#assignment = assignment;
    this.#print = print;
  }

  /** The step begins, begins again, or comes to another stage. Always sent, unless it says what was said last. */
  async stage(message: string, progress = this.#progress): Promise<void> {
    this.#progress = progress;
    await this.#send("running", message);
  }

  /** How far it is, 0–100. May be called for every item: sent every five points. */
  async progress(progress: number, message: string): Promise<void> {
    this.#progress = progress;
    if (progress - this.#sent.progress >= VISIBLE_POINTS) await this.#send("running", message);
  }

  /** The step is done. The output of the job's last step becomes the job's. */
  async completed(message: string, output: object): Promise<void> {
    this.#progress = 100;
    await this.#send("completed", message, { output });
  }

  /** This attempt has failed, at the progress it had reached; with failJob the job has, too. */
  async failed(message: string, extra: Extra = {}): Promise<void> {
    await this.#send("failed", message, extra);
  }

  async #send(status: Status, message: string, extra: Extra = {}): Promise<void> {
    const said = JSON.stringify([status, this.#progress, message, extra.failJob]);
    if (said === this.#sent.said) return;
    const { jobId, stepKey, ...known } = this.#assignment;
    const body = { ...known, status, progress: this.#progress, message, ...extra };
    await this.#signalbox.call("PUT", stepPath(jobId, stepKey), body);
    this.#sent = { progress: this.#progress, said };
    this.#print(stepKey, `${status.padEnd(9)} ${String(Math.round(this.#progress)).padStart(3)} %  ${message}`);
  }
}
