import { AppError } from "../../shared/errors.ts";
import { FairSemaphore } from "../../shared/fairSemaphore.ts";

/** Weight of `FairSemaphore`: of 10 turns a single sender holds up to 7, a second one 2. */
const WEIGHT = 3;
/** Maximum runs of one sender that wait in this process. The others stay in Redis, where other workers may take them. */
const MAX_WAITING = 2;
/** Maximum wait for a turn in this process. */
const MAX_WAIT_MS = 1_000;
/** Minimum delay of a run that got no turn. */
const MIN_DELAY_MS = 250;
/** Minimum interval between delayed runs of one sender, so that thousands of waiting runs cost Redis 200 reads a second. */
const SPACING_MS = 5;

/**
 * Shares the agent turns of a worker between senders (`/hooks/agent` and each mapping), so that no sender holds all turns,
 * however many runs it has waiting and however long they take.
 */
export class TurnShares {
  readonly #turns: FairSemaphore;
  /** For each sender, when its last delayed run comes back, by `performance.now()`. */
  readonly #delayedUntil = new Map<string, number>();

  /** @param turns maximum concurrent turns (`worker.concurrency`) */
  constructor(turns: number) {
    this.#turns = new FairSemaphore(turns, WEIGHT);
  }

  /** Returns the concurrency that the queue's worker needs, so that it can always take one more job to decide about it. */
  static queueConcurrency(turns: number, senders: number): number {
    return turns + MAX_WAITING * senders + 1;
  }

  /**
   * Waits for a turn, for at most `MAX_WAIT_MS`.
   * @returns a function that releases the turn, to be called once; or after how many milliseconds to try again
   * @throws the signal's reason
   */
  async acquire(sender: string, signal: AbortSignal): Promise<(() => void) | number> {
    if (this.#turns.queueDepth(sender).depth >= MAX_WAITING) return this.#nextDelay(sender);
    const timeout = AbortSignal.timeout(MAX_WAIT_MS);
    try {
      return await this.#turns.acquire(sender, AbortSignal.any([signal, timeout]));
    } catch {
      signal.throwIfAborted();
      if (!timeout.aborted) return 0; // this object is closed, so another worker takes the run
      return this.#nextDelay(sender);
    }
  }

  /** Refuses all further turns; runs that wait or arrive get a delay of 0. */
  close(): void {
    this.#turns.close(new AppError("unavailable", { detail: "The worker is stopping." }));
  }

  #nextDelay(sender: string): number {
    const now = performance.now();
    const at = Math.max(now + MIN_DELAY_MS, (this.#delayedUntil.get(sender) ?? 0) + SPACING_MS);
    this.#delayedUntil.set(sender, at);
    return at - now;
  }
}
