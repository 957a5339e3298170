import { type ChildSettings, TransformChild } from "./child.ts";
import { type OnOutput, TransformOutput } from "./output.ts";
import { FRAMES_FD, type Frame, readFrames } from "./transformFrames.mjs";

/** Maximum time until a used thread starts a job: the job before may still keep it busy. */
const WARM_START_MS = 2_000;

/** Maximum time until a new thread starts its first job, even on a busy machine. */
const COLD_START_MS = 30_000;

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
 * The outcome of a job on a thread.
 *
 * - `failed`: by a fault of the transform; `fault` completes the sentence "The transform x …". With `endsThread` the
 *   thread must not be used again.
 * - `retry`: not by a fault of this job, on a thread that ran others before. The job must run on a new thread.
 * - `unavailable`: no thread could be started.
 */
export type ThreadOutcome =
  | { readonly kind: "kept" | "dropped" }
  | { readonly kind: "result"; readonly value: unknown }
  | { readonly kind: "failed"; readonly fault: string; readonly endsThread: boolean }
  | { readonly kind: "retry" }
  | { readonly kind: "unavailable"; readonly fault: string };

interface RunningJob {
  readonly label: string;
  readonly resolve: (outcome: ThreadOutcome) => void;
  started: boolean;
}

/**
 * The thread of one module, in a process of its own: when V8 finds no memory for a thread, it often ends the whole process
 * in spite of resourceLimits. It runs one job at a time. The caller that creates it ends it.
 *
 * States: ready (`usable`, no job), waiting (a job was sent), running (the thread reported `started`), unusable (no
 * further job, the process is ending or its module is out of date), ended (`ended` is resolved).
 */
export class TransformProcess {
  readonly path: string;
  /** Resolves when the process has ended and all its output was read. */
  readonly ended: Promise<void>;
  readonly #settings: ThreadSettings;
  readonly #child: TransformChild;
  #job: RunningJob | undefined;
  #jobs = 0;
  #timer: NodeJS.Timeout | undefined;
  /** The output of the job that started last: text printed between two jobs belongs to the earlier one. */
  #output: TransformOutput | undefined;
  #usable = true;
  /** The reason of the end, if it was determined before the process ended. */
  #fault: string | undefined;
  #timedOut = false;
  #hasEnded = false;

  /** @throws the system's error if the process cannot be started */
  constructor(settings: ThreadSettings) {
    this.path = settings.path;
    this.#settings = settings;
    this.#child = new TransformChild(settings);
    if (this.#child.frames) {
      readFrames(
        this.#child.frames,
        (frame) => this.#handle(frame),
        () => this.end(`wrote to the file descriptor ${FRAMES_FD}, which is not its own`),
      );
    }
    this.#child.onLowestPriority(() => {
      this.#usable = false;
      if (!this.#job?.started) void this.end();
    });
    this.ended = this.#child.ended.then((fault) => {
      this.#fault ??= fault;
      this.#output?.flush();
      this.#hasEnded = true;
      this.#job?.resolve(this.#outcomeAtEnd(this.#job));
    });
  }

  /** Whether it may get another job. */
  get usable(): boolean {
    return this.#usable;
  }

  /** Runs a job. The end of the thread meanwhile is an outcome, not an error. @throws if the input cannot be cloned */
  async run({ export: name, input, label }: ThreadJob): Promise<ThreadOutcome> {
    const { promise, resolve } = Promise.withResolvers<ThreadOutcome>();
    const job = { label, resolve, started: false };
    this.#job = job;
    const startTimeoutMs = this.#jobs++ === 0 ? COLD_START_MS : WARM_START_MS;
    this.#timer = setTimeout(() => this.end(`did not start within ${startTimeoutMs / 1000} s`), startTimeoutMs);
    try {
      this.#child.send({ name, input });
      return this.#hasEnded ? this.#outcomeAtEnd(job) : await promise;
    } finally {
      clearTimeout(this.#timer);
      this.#job = undefined;
    }
  }

  /** Kills the process, even while a job runs. @param fault the reason, unless one is known already */
  end(fault?: string): Promise<void> {
    this.#usable = false;
    this.#fault ??= fault;
    this.#child.kill();
    return this.ended;
  }

  #handle(frame: Frame): void {
    switch (frame.type) {
      case "started":
        this.#onStarted();
        break;
      case "output":
        this.#output?.add(frame.stream, frame.text);
        break;
      case "truncated":
        this.#output?.truncate();
        break;
      case "stale":
        this.#usable = false;
        this.#job?.resolve({ kind: "retry" });
        break;
      case "end":
        if (frame.kind === "failed" && frame.endsThread) this.#usable = false;
        this.#output?.flush();
        if (!this.#timedOut) this.#job?.resolve(frame);
        break;
      case "died":
        this.#fault ??= frame.fault;
    }
  }

  #onStarted(): void {
    if (!this.#job) return;
    this.#job.started = true;
    this.#output?.flush();
    this.#output = new TransformOutput(this.#job.label, this.#settings.onOutput);
    const { timeoutMs } = this.#settings;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timedOut = true;
      void this.end(`took longer than hooks.transformTimeoutSeconds (${timeoutMs / 1000} s)`);
    }, timeoutMs);
  }

  #outcomeAtEnd({ started }: RunningJob): ThreadOutcome {
    if (!this.#timedOut && this.#jobs > 1) return { kind: "retry" };
    const fault = this.#fault ?? "";
    return started ? { kind: "failed", fault, endsThread: true } : { kind: "unavailable", fault };
  }
}
