import { AppError } from "./errors.ts";

interface Waiting<In, Out> {
  readonly item: In;
  readonly resolve: (out: Out) => void;
  readonly reject: (error: unknown) => void;
}

export interface BatcherOptions<In> {
  /** Maximum items in one batch. */
  readonly maxBatchSize: number;
  /** Maximum sum of `weightOf` in one batch. An item that weighs more forms a batch of its own. */
  readonly maxBatchWeight: number;
  weightOf(item: In): number;
  /** Maximum concurrent batches (default 2). A further batch starts only once it is as large as the ones in flight. */
  readonly maxConcurrency?: number;
  /** Items with the same key are never in two concurrent batches. */
  keyOf?(item: In): string;
}

/** Limits for items that all weigh the same. */
export const EQUAL_WEIGHTS = { maxBatchSize: 500, maxBatchWeight: 500, weightOf: () => 1 } as const;

/**
 * Groups concurrent calls into one operation (group commit). A call that arrives alone is processed at once; calls that
 * arrive while a batch is in flight form the next one, so that the cost of a call falls as the load grows.
 *
 * An item passes through these states:
 *
 * - WAITING: the item is in `#waiting`. It stays there while `maxConcurrency` batches are in flight, while fewer items wait
 *   than are in flight, or while an item with its key is in flight.
 * - SCHEDULED: a batch may start, and starts at the end of this turn of the event loop, with every item that fits.
 * - IN_FLIGHT: `process` runs with the item's batch.
 * - ALONE: `process` threw for the batch, and runs again with each of its items alone.
 * - SETTLED: the promise of `add` is resolved or rejected. Every batch that ends schedules the next one.
 *
 *     WAITING -> SCHEDULED -> IN_FLIGHT -> SETTLED
 *                             IN_FLIGHT -> ALONE -> SETTLED
 */
export class Batcher<In, Out> {
  readonly #process: (items: readonly In[]) => Promise<readonly (Out | Error)[]>;
  readonly #options: BatcherOptions<In>;
  #waiting: Waiting<In, Out>[] = [];
  /** The keys of each batch in flight. */
  readonly #inFlight = new Set<ReadonlySet<string>>();
  #itemsInFlight = 0;
  #isScheduled = false;

  /**
   * @param process returns a result or an error for each item, in their order. If it throws `unavailable`, all items fail
   *   with that error. If it throws anything else, each item is processed alone, so that only the one at fault fails.
   */
  constructor(process: (items: readonly In[]) => Promise<readonly (Out | Error)[]>, options: BatcherOptions<In>) {
    this.#process = process;
    this.#options = options;
  }

  /**
   * Adds an item and resolves with its result. Rejects with the error returned for this item, or with the error thrown when
   * it was processed alone.
   */
  add(item: In): Promise<Out> {
    const { promise, resolve, reject } = Promise.withResolvers<Out>();
    this.#waiting.push({ item, resolve, reject });
    this.#schedule();
    return promise;
  }

  /** Starts a batch at the end of this turn of the event loop, if one may start. */
  #schedule(): void {
    if (this.#isScheduled || !this.#mayStart()) return;
    this.#isScheduled = true;
    setImmediate(() => {
      this.#isScheduled = false;
      if (this.#mayStart()) void this.#startBatch();
    });
  }

  #mayStart(): boolean {
    const { maxConcurrency = 2, maxBatchSize } = this.#options;
    const enough = Math.max(1, Math.min(this.#itemsInFlight, maxBatchSize));
    return this.#inFlight.size < maxConcurrency && this.#waiting.length >= enough;
  }

  async #startBatch(): Promise<void> {
    const batch = this.#takeBatch();
    if (batch.length === 0) return; // every waiting item shares a key with a batch in flight
    const keys = new Set(batch.flatMap(({ item }) => this.#options.keyOf?.(item) ?? []));
    this.#inFlight.add(keys);
    this.#itemsInFlight += batch.length;
    this.#schedule();
    await this.#run(batch);
    this.#inFlight.delete(keys);
    this.#itemsInFlight -= batch.length;
    this.#schedule();
  }

  /** Removes and returns the first waiting items that fit into one batch and share no key with a batch in flight. */
  #takeBatch(): Waiting<In, Out>[] {
    const { maxBatchSize, maxBatchWeight, weightOf, keyOf } = this.#options;
    const taken: Waiting<In, Out>[] = [];
    const left: Waiting<In, Out>[] = [];
    let weight = 0;
    let isFull = false;
    for (const one of this.#waiting) {
      const isBusy = keyOf !== undefined && [...this.#inFlight].some((keys) => keys.has(keyOf(one.item)));
      if (!isBusy && !isFull) {
        weight += weightOf(one.item);
        isFull = taken.length === maxBatchSize || (taken.length > 0 && weight > maxBatchWeight);
      }
      if (isBusy || isFull) left.push(one);
      else taken.push(one);
    }
    this.#waiting = left;
    return taken;
  }

  async #run(batch: readonly Waiting<In, Out>[]): Promise<void> {
    try {
      const results = await this.#process(batch.map(({ item }) => item));
      for (const [i, { resolve, reject }] of batch.entries()) {
        const result = results[i];
        if (result instanceof Error) reject(result);
        else resolve(result as Out);
      }
    } catch (error) {
      if (batch.length === 1 || isUnavailable(error)) for (const { reject } of batch) reject(error);
      else for (const one of batch) await this.#run([one]);
    }
  }
}

const isUnavailable = (error: unknown): boolean => error instanceof AppError && error.code === "unavailable";
