import { realpathSync } from "node:fs";
import { resolveTransform } from "../../shared/config/formats/transformPath.ts";
import { AppError } from "../../shared/errors.ts";
import { FairSemaphore } from "./fairSemaphore.ts";
import type { OnOutput } from "./output.ts";
import { type ThreadAnswer, TransformProcess } from "./process.ts";
import type { TransformInput } from "./transform.ts";

/** How long a thread is kept that nobody needs: about what a sender leaves between the requests of a burst. */
const IDLE_MS = 60_000;

/** Once so many of a module wait, and the first of them this long, others of it wait elsewhere and leave room for those of others. */
const CROWD = 25;
const CROWDED_MS = 1_000;
const MOST_AWAY_MS = 60_000;

export interface TransformsOptions {
  /** hooks.transformsDir, absolute. */
  readonly dir: string;
  readonly timeoutMs: number;
  /** Of the JavaScript heap; with Buffers and all else about 64 MiB more. */
  readonly maxMemoryMiB: number;
  readonly maxThreads: number;
  /** The environment of the threads: without the service's own secrets. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Told each line that a transform prints, with the label of its run. */
  readonly onOutput: OnOutput;
}

export interface TransformRequest {
  /** As the mapping names it. */
  readonly module: string;
  readonly export?: string | undefined;
  readonly input: TransformInput<object>;
  /** Names the run towards `onOutput`. */
  readonly label: string;
}

/** What a transform made of a request: the mapping's result is kept, the request dropped, or what it answered. */
export type TransformOutcome =
  | { readonly kind: "kept" | "dropped" }
  | { readonly kind: "result"; readonly value: unknown };

/** Carries out transforms on threads, which are kept warm for their module. Whoever opens it closes it. */
export class Transforms {
  readonly #options: TransformsOptions;
  readonly #turns: FairSemaphore;
  readonly #threads = new Set<TransformProcess>();
  /** Longest idle first, each with what ends it after a while. */
  readonly #idle = new Map<TransformProcess, NodeJS.Timeout>();
  #closed = false;

  constructor(options: TransformsOptions) {
    this.#options = options;
    this.#turns = new FairSemaphore(options.maxThreads);
  }

  /**
   * Carries out one transform, which sees a copy of the input. It waits for a free thread; the time limit counts from
   * when it begins. When the signal fires, it settles after the thread is gone.
   * @throws AppError transform_failed (by its own fault: the detail says what and where, and quotes of the input only what
   *   the transform has put into an error), unavailable (no thread can be had, or this is closed), or the signal's reason
   */
  async run(request: TransformRequest, signal: AbortSignal): Promise<TransformOutcome> {
    const resolved = resolveTransform(this.#options.dir, request.module);
    if (!resolved.ok) throw new AppError("transform_failed", { detail: resolved.reason });
    const leave = await this.#turns.take(resolved.path, signal);
    try {
      const warm = this.#takeIdle(resolved.path);
      let answer: ThreadAnswer = warm ? await this.#ask(warm, request, signal) : { kind: "again" };
      if (answer.kind === "again") answer = await this.#ask(this.#start(resolved.path), request, signal);
      return outcome(answer, request.module);
    } finally {
      leave();
    }
  }

  /**
   * @returns after how many milliseconds to come again, as many wait for this module's threads for long already: as long as
   *   the first of them has waited, a minute at most; 0 where they do not
   */
  backpressureDelayMs(module: string): number {
    const resolved = resolveTransform(this.#options.dir, module);
    const { length, ms } = resolved.ok ? this.#turns.line(resolved.path) : { length: 0, ms: 0 };
    return length < CROWD || ms < CROWDED_MS ? 0 : Math.min(ms, MOST_AWAY_MS);
  }

  /** Ends all threads; what runs or waits is rejected as unavailable. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#turns.close(stopping());
    await Promise.all([...this.#threads].map((thread) => thread.end()));
  }

  async #ask(thread: TransformProcess, request: TransformRequest, signal: AbortSignal): Promise<ThreadAnswer> {
    const end = () => void thread.end();
    signal.addEventListener("abort", end);
    if (signal.aborted) end();
    try {
      const answer = await thread.run(request);
      if (answer.kind === "again" || answer.kind === "unavailable" || (answer.kind === "failed" && answer.spent)) {
        signal.throwIfAborted();
        if (this.#closed) throw stopping();
      }
      return answer;
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

  /** The thread of this module that was used last, so that those not needed grow old. */
  #takeIdle(path: string): TransformProcess | undefined {
    const thread = [...this.#idle.keys()].findLast((one) => one.path === path);
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

function outcome(answer: ThreadAnswer, module: string): TransformOutcome {
  switch (answer.kind) {
    case "result":
      return { kind: "result", value: answer.value };
    case "failed":
      throw new AppError("transform_failed", { detail: `The transform ${module} ${answer.fault.replace(/\.$/, "")}.` });
    case "unavailable":
      throw notStarted(answer.fault);
    case "again":
      throw notStarted("was ended before it began");
    default:
      return { kind: answer.kind };
  }
}

const notStarted = (fault: string) => new AppError("unavailable", { detail: `A transform's thread ${fault}.` });

const stopping = () => new AppError("unavailable", { detail: "The worker is stopping." });
