import { FairSemaphore } from "../../hooks/transforms/fairSemaphore.ts";
import { AppError } from "../../shared/errors.ts";

/** Share that one sender may hold of the free turns: of 10 turns a sender that is alone holds 7, a second one 2. */
const WEIGHT = 3;
/** How many runs of one sender wait here for a turn. Others stay in Redis, where other workers may take them. */
const MAX_LINE = 2;
const MAX_WAIT_MS = 1_000;
const MIN_AWAY_MS = 250;
/** Between the returns of one sender's runs: thousands that wait cost Redis 200 looks a second. */
const SPACING_MS = 5;

/**
 * Shares the agent turns of a worker between senders (`/hooks/agent`, each mapping), so that none of them holds all turns,
 * however many runs it has waiting and however long they take.
 */
export class TurnShares {
  readonly #turns: FairSemaphore;
  /** When the last run of a sender that was sent away is to return, by `performance.now()`. */
  readonly #returns = new Map<string, number>();

  /** @param turns the number of turns at the same time (`worker.concurrency`) */
  constructor(turns: number) {
    this.#turns = new FairSemaphore(turns, WEIGHT);
  }

  /** Returns how many jobs a worker must hold so that one is always free to look at the next. */
  static jobsOf(turns: number, senders: number): number {
    return turns + MAX_LINE * senders + 1;
  }

  /**
   * Waits a moment for a turn.
   * @returns what gives it back, to be called once; or after how many milliseconds to try again
   * @throws the signal's reason
   */
  async enter(sender: string, signal: AbortSignal): Promise<(() => void) | number> {
    if (this.#turns.queueDepth(sender).depth >= MAX_LINE) return this.#away(sender);
    const patience = AbortSignal.timeout(MAX_WAIT_MS);
    try {
      return await this.#turns.acquire(sender, AbortSignal.any([signal, patience]));
    } catch {
      signal.throwIfAborted();
      if (!patience.aborted) return 0; // closed: another worker takes the run
      return this.#away(sender);
    }
  }

  /** Begins no turn any more. */
  close(): void {
    this.#turns.close(new AppError("unavailable", { detail: "The worker is stopping." }));
  }

  #away(sender: string): number {
    const now = performance.now();
    const at = Math.max(now + MIN_AWAY_MS, (this.#returns.get(sender) ?? 0) + SPACING_MS);
    this.#returns.set(sender, at);
    return at - now;
  }
}
