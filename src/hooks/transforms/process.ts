import { type ChildSettings, TransformChild } from "./child.ts";
import { type OnOutput, TransformOutput } from "./output.ts";
import { FRAMES_FD, type Frame, readFrames } from "./transformFrames.mjs";

/** How long a thread that has served before may take to begin; what it did last may keep it busy. */
const BEGIN_MS = 2_000;

/** How long a new thread may take to begin, however busy the machine is. */
const START_MS = 30_000;

export interface ThreadSettings extends ChildSettings {
  readonly timeoutMs: number;
  readonly onOutput: OnOutput;
}

export interface ThreadJob {
  readonly export?: string | undefined;
  readonly input: unknown;
  readonly label: string;
}

/**
 * What became of a job. `failed`: by its own fault, which completes the sentence "The transform x …"; `spent` when the
 * thread is not to be used again. `again`: not by its own fault, on a thread that had served before; to be done on a new
 * one. `unavailable`: no thread could be had.
 */
export type ThreadAnswer =
  | { readonly kind: "kept" | "dropped" }
  | { readonly kind: "result"; readonly value: unknown }
  | { readonly kind: "failed"; readonly fault: string; readonly spent: boolean }
  | { readonly kind: "again" }
  | { readonly kind: "unavailable"; readonly fault: string };

interface RunningJob {
  readonly label: string;
  readonly answer: (answer: ThreadAnswer) => void;
  begun: boolean;
}

/**
 * The thread of one module, in a process of its own: where V8 finds no memory for a thread it often ends the whole
 * process, resourceLimits or not. It does one job at a time. Whoever starts it ends it.
 */
export class TransformProcess {
  readonly path: string;
  /** When the process is gone and all that it said has been heard. */
  readonly ended: Promise<void>;
  readonly #settings: ThreadSettings;
  readonly #child: TransformChild;
  #job: RunningJob | undefined;
  #jobs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** Of the job that began last: what is printed between two is the earlier one's. */
  #output: TransformOutput | undefined;
  #usable = true;
  /** Why it came to its end, where that is known before. */
  #fault: string | undefined;
  #late = false;
  #isGone = false;

  /** @throws the error of the system that does not start it */
  constructor(settings: ThreadSettings) {
    this.path = settings.path;
    this.#settings = settings;
    this.#child = new TransformChild(settings);
    if (this.#child.frames) {
      readFrames(
        this.#child.frames,
        (frame) => this.#hear(frame),
        () => this.end(`wrote to the file descriptor ${FRAMES_FD}, which is not its own`),
      );
    }
    this.#child.onWorn(() => {
      this.#usable = false;
      if (!this.#job?.begun) void this.end();
    });
    this.ended = this.#child.ended.then((how) => {
      this.#fault ??= how;
      this.#output?.flush();
      this.#isGone = true;
      this.#job?.answer(this.#answerOfEnd(this.#job));
    });
  }

  /** Whether to give it another job. */
  get usable(): boolean {
    return this.#usable;
  }

  /** Carries a job out. When the thread is ended meanwhile, the answer says so. @throws when the input cannot be cloned */
  async run({ export: name, input, label }: ThreadJob): Promise<ThreadAnswer> {
    const { promise, resolve } = Promise.withResolvers<ThreadAnswer>();
    const job = { label, answer: resolve, begun: false };
    this.#job = job;
    const withinMs = this.#jobs++ === 0 ? START_MS : BEGIN_MS;
    this.#timer = setTimeout(() => this.end(`had not begun after ${withinMs / 1000} s`), withinMs);
    try {
      this.#child.send({ name, input });
      return this.#isGone ? this.#answerOfEnd(job) : await promise;
    } finally {
      clearTimeout(this.#timer);
      this.#job = undefined;
    }
  }

  /** Ends it, whatever it does. */
  end(fault?: string): Promise<void> {
    this.#usable = false;
    this.#fault ??= fault;
    this.#child.kill();
    return this.ended;
  }

  #hear(frame: Frame): void {
    switch (frame.type) {
      case "begun":
        this.#begin();
        break;
      case "output":
        this.#output?.add(frame.stream, frame.text);
        break;
      case "flood":
        this.#output?.flood();
        break;
      case "stale":
        this.#usable = false;
        this.#job?.answer({ kind: "again" });
        break;
      case "end":
        if (frame.kind === "failed" && frame.spent) this.#usable = false;
        this.#output?.flush();
        if (!this.#late) this.#job?.answer(frame);
        break;
      case "died":
        this.#fault ??= frame.fault;
    }
  }

  #begin(): void {
    if (!this.#job) return;
    this.#job.begun = true;
    this.#output?.flush();
    this.#output = new TransformOutput(this.#job.label, this.#settings.onOutput);
    const { timeoutMs } = this.#settings;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#late = true;
      void this.end(`took longer than hooks.transformTimeoutSeconds (${timeoutMs / 1000} s)`);
    }, timeoutMs);
  }

  #answerOfEnd({ begun }: RunningJob): ThreadAnswer {
    if (!this.#late && this.#jobs > 1) return { kind: "again" };
    const fault = this.#fault ?? "";
    return begun ? { kind: "failed", fault, spent: true } : { kind: "unavailable", fault };
  }
}
