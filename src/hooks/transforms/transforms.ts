import { realpathSync } from "node:fs";
import { deserialize, serialize } from "node:v8";
import { resolveTransform } from "../../config/mappings/transformPath.ts";
import { AppError } from "../../shared/errors.ts";
import { FairSemaphore } from "../../shared/fairSemaphore.ts";
import { type ProcessSettings, type RunOutcome, TransformProcess, type TransformRun } from "./process.ts";
import type { TransformInput } from "./transform.ts";

/** How long the idle process is kept: longer than the pauses between the requests of a burst. */
const IDLE_MS = 10_000;

/**
 * Queue depth and wait of a module from which further runs of it are delayed in Redis, so that they leave room in this
 * worker for runs of other modules; and the maximum of that delay.
 */
const BACKPRESSURE_DEPTH = 25;
const BACKPRESSURE_WAIT_MS = 1_000;
const MAX_BACKPRESSURE_DELAY_MS = 60_000;

export interface TransformsOptions extends ProcessSettings {
  /** hooks.transformsDir, absolute. */
  readonly dir: string;
  readonly maxThreads: number;
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

/**
 * Runs transforms in one process, each on a thread of its own. The process is started for a burst of runs and ends after it. The
 * caller that creates it closes it.
 */
export class Transforms {
  readonly #options: TransformsOptions;
  readonly #permits: FairSemaphore;
  /** All processes that have not ended: the one that takes runs, and those that end their last ones. */
  readonly #processes = new Set<TransformProcess>();
  #idleTimer: NodeJS.Timeout | undefined;
  #closed = false;

  constructor(options: TransformsOptions) {
    this.#options = options;
    this.#permits = new FairSemaphore(options.maxThreads);
  }

  /**
   * Runs one transform on a copy of the input. Waits for a permit; the time limit starts when the transform does. After an
   * abort the promise rejects only once the thread has ended.
   * @throws AppError transform_failed (a fault of the transform; the detail gives the fault and its place, and quotes only
   *   input that the transform put into an error), unavailable (no thread could be started, or this object is closed), or
   *   the signal's reason; the error of v8.serialize if the input cannot be cloned
   */
  async run({ module, export: name, input, label }: TransformRequest, signal: AbortSignal): Promise<TransformOutcome> {
    const resolved = resolveTransform(this.#options.dir, module);
    if (!resolved.ok) throw new AppError("transform_failed", { detail: resolved.reason });
    const start = { dir: realpathSync(this.#options.dir), path: resolved.path, name, input: serialize(input) };
    const release = await this.#permits.acquire(resolved.path, signal);
    try {
      let outcome = await this.#runOn(this.#current(), { start, label }, signal);
      if (outcome.kind === "lost") {
        // Another run may have ended the process. If this one ends its own process, that is its own fault.
        const alone = this.#start();
        alone.retire();
        outcome = await this.#runOn(alone, { start, label }, signal);
      }
      return toTransformOutcome(outcome, module);
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

  /** Ends all processes; rejects running and waiting transforms with `unavailable`. */
  async close(): Promise<void> {
    this.#closed = true;
    clearTimeout(this.#idleTimer);
    this.#permits.close(stopping());
    await Promise.all([...this.#processes].map((process) => process.kill()));
  }

  async #runOn(process: TransformProcess, run: TransformRun, signal: AbortSignal): Promise<RunOutcome> {
    try {
      const outcome = await process.run(run, signal);
      signal.throwIfAborted();
      if (this.#closed) throw stopping();
      return outcome;
    } finally {
      if (process.isIdle) await this.#end(process);
    }
  }

  /** Ends an idle process: one that takes no further run at once, the other one after a while. */
  async #end(process: TransformProcess): Promise<void> {
    if (!process.isUsable) return process.kill();
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => process.isIdle && process.kill(), IDLE_MS).unref();
  }

  /** Returns the process that takes runs. */
  #current(): TransformProcess {
    return [...this.#processes].find(({ isUsable }) => isUsable) ?? this.#start();
  }

  #start(): TransformProcess {
    if (this.#closed) throw stopping();
    try {
      const process = new TransformProcess(this.#options);
      this.#processes.add(process);
      void process.ended.then(() => this.#processes.delete(process));
      return process;
    } catch (error) {
      throw notStarted(`could not be started (${(error as NodeJS.ErrnoException).code})`);
    }
  }
}

function toTransformOutcome(outcome: RunOutcome, module: string): TransformOutcome {
  switch (outcome.kind) {
    case "result":
      return { kind: "result", value: deserialize(outcome.value) };
    case "failed":
      throw new AppError("transform_failed", {
        detail: `The transform ${module} ${outcome.fault.replace(/\.$/, "")}.`,
      });
    case "unavailable":
      throw notStarted(outcome.fault);
    case "lost":
      throw notStarted("was stopped before it started");
    default:
      return { kind: outcome.kind };
  }
}

const notStarted = (fault: string) => new AppError("unavailable", { detail: `A transform's thread ${fault}.` });

const stopping = () => new AppError("unavailable", { detail: "The worker is stopping." });
