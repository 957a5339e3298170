import { realpathSync } from "node:fs";
import { resolveTransform } from "../../shared/config/formats/transformPath.ts";
import { AppError } from "../../shared/errors.ts";
import { FairSemaphore } from "./fairSemaphore.ts";
import type { OnOutput } from "./output.ts";
import { type ThreadOutcome, TransformProcess } from "./process.ts";
import type { TransformInput } from "./transform.ts";

/** How long an idle thread is kept: about as long as a sender pauses between the requests of a burst. */
const IDLE_MS = 60_000;

/**
 * Queue depth and wait of a module from which further runs of it are delayed in Redis, so that they leave room in this
 * worker for runs of other modules; and the maximum of that delay.
 */
const BACKPRESSURE_DEPTH = 25;
const BACKPRESSURE_WAIT_MS = 1_000;
const MAX_BACKPRESSURE_DELAY_MS = 60_000;

export interface TransformsOptions {
  /** hooks.transformsDir, absolute. */
  readonly dir: string;
  readonly timeoutMs: number;
  /** Limit of the JavaScript heap. Buffers and everything else may take about 64 MiB more. */
  readonly maxMemoryMiB: number;
  readonly maxThreads: number;
  /** The environment of the threads: without the service's own secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Receives each line that a transform prints, with the label of its run. */
  readonly onOutput: OnOutput;
}

export interface TransformRequest {
  /** The path from the mapping, relative to `dir`. */
  readonly module: string;
  readonly export?: string | undefined;
  readonly input: TransformInput<object>;
  /** Identifies the run in calls of `onOutput`. */
  readonly label: string;
}

/** The outcome of a transform: the mapping's result is kept, the request is dropped, or the transform returned a result. */
export type TransformOutcome =
  | { readonly kind: "kept" | "dropped" }
  | { readonly kind: "result"; readonly value: unknown };

/** Runs transforms on threads, which stay loaded for their module. The caller that creates it closes it. */
export class Transforms {
  readonly #options: TransformsOptions;
  readonly #permits: FairSemaphore;
  readonly #threads = new Set<TransformProcess>();
  /** Idle threads, longest idle first, each with the timer that ends it. */
  readonly #idle = new Map<TransformProcess, NodeJS.Timeout>();
  #closed = false;

  constructor(options: TransformsOptions) {
    this.#options = options;
    this.#permits = new FairSemaphore(options.maxThreads);
  }

  /**
   * Runs one transform on a copy of the input. Waits for a free thread; the time limit starts when the transform does.
   * After an abort the promise rejects only once the thread has ended.
   * @throws AppError transform_failed (a fault of the transform; the detail gives the fault and its place, and quotes only
   *   input that the transform put into an error), unavailable (no thread could be started, or this object is closed), or
   *   the signal's reason
   */
  async run(request: TransformRequest, signal: AbortSignal): Promise<TransformOutcome> {
    const resolved = resolveTransform(this.#options.dir, request.module);
    if (!resolved.ok) throw new AppError("transform_failed", { detail: resolved.reason });
    const release = await this.#permits.acquire(resolved.path, signal);
    try {
      const warm = this.#takeIdle(resolved.path);
      let outcome: ThreadOutcome = warm ? await this.#runOn(warm, request, signal) : { kind: "retry" };
      if (outcome.kind === "retry") outcome = await this.#runOn(this.#start(resolved.path), request, signal);
      return toTransformOutcome(outcome, request.module);
    } finally {
      release();
    }
  }

  /**
   * Returns how many milliseconds to delay a run of this module because many runs already wait for its threads: as long as
   * the first of them has waited, at most a minute. Returns 0 if the run can start to wait at once.
   */
  backpressureDelayMs(module: string): number {
    const resolved = resolveTransform(this.#options.dir, module);
    if (!resolved.ok) return 0;
    const { depth, waitedMs } = this.#permits.queueDepth(resolved.path);
    const isBusy = depth >= BACKPRESSURE_DEPTH && waitedMs >= BACKPRESSURE_WAIT_MS;
    return isBusy ? Math.min(waitedMs, MAX_BACKPRESSURE_DELAY_MS) : 0;
  }

  /** Ends all threads; rejects running and waiting transforms with `unavailable`. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#permits.close(stopping());
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  async #runOn(thread: TransformProcess, request: TransformRequest, signal: AbortSignal): Promise<ThreadOutcome> {
    const end = () => void thread.end();
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    try {
      const outcome = await thread.run(request);
      const mayBeAborted = outcome.kind === "retry" || outcome.kind === "unavailable";
      if (mayBeAborted || (outcome.kind === "failed" && outcome.endsThread)) {
        signal.throwIfAborted();
        if (this.#closed) throw stopping();
      }
      return outcome;
    } finally {
      signal.removeEventListener("abort", end);
      if (thread.usable) this.#keep(thread);
      else await thread.end();
    }
  }

  #start(path: string): TransformProcess {
    if (this.#closed) throw stopping();
    const [longestIdle] = this.#idle.keys();
    if (longestIdle && this.#threads.size >= this.#options.maxThreads) this.#endIdle(longestIdle);
    const thread = startThread(this.#options, path);
    this.#threads.add(thread);
    void thread.ended.then(() => {
      this.#threads.delete(thread);
      this.#endIdle(thread);
    });
    return thread;
  }

  #keep(thread: TransformProcess): void {
    if (this.#closed) void thread.end();
    else this.#idle.set(thread, setTimeout(() => this.#endIdle(thread), IDLE_MS).unref());
  }

  /** Takes the most recently used idle thread of this module, so that superfluous threads reach their idle limit. */
  #takeIdle(path: string): TransformProcess | undefined {
    const thread = [...this.#idle.keys()].findLast((candidate) => candidate.path === path);
    if (thread) this.#forgetIdle(thread);
    return thread;
  }

  #endIdle(thread: TransformProcess): void {
    this.#forgetIdle(thread);
    void thread.end();
  }

  #forgetIdle(thread: TransformProcess): void {
    clearTimeout(this.#idle.get(thread));
    this.#idle.delete(thread);
  }
}

function startThread({ dir, ...settings }: TransformsOptions, path: string): TransformProcess {
  try {
    return new TransformProcess({ ...settings, dir: realpathSync(dir), path });
  } catch (error) {
    throw notStarted(`could not be started (${(error as NodeJS.ErrnoException).code})`);
  }
}

function toTransformOutcome(outcome: ThreadOutcome, module: string): TransformOutcome {
  switch (outcome.kind) {
    case "result":
      return { kind: "result", value: outcome.value };
    case "failed":
      throw new AppError("transform_failed", {
        detail: `The transform ${module} ${outcome.fault.replace(/\.$/, "")}.`,
      });
    case "unavailable":
      throw notStarted(outcome.fault);
    case "retry":
      throw notStarted("was stopped before it started");
    default:
      return { kind: outcome.kind };
  }
}

const notStarted = (fault: string) => new AppError("unavailable", { detail: `A transform's thread ${fault}.` });

const stopping = () => new AppError("unavailable", { detail: "The worker is stopping." });
