interface Waiter {
  /** By `performance.now()`. */
  readonly since: number;
  readonly resolve: () => void;
  readonly reject: (reason: unknown) => void;
}

/**
 * A semaphore that shares its permits fairly between keys. Requests of one key are served in order, and the keys take
 * turns. A key that holds permits gets another one only while it then holds at most `weight` times as many as stay free for
 * others: with weight 1, one key gets at most 4 of 8 permits, a second one 2, a third and a fourth one each.
 */
export class FairSemaphore {
  #free: number;
  readonly #weight: number;
  readonly #held = new Map<string, number>();
  /** In order of turns: a key that was served moves to the end. */
  readonly #waiting = new Map<string, Waiter[]>();
  #closed: { readonly reason: unknown } | undefined;

  constructor(permits: number, weight = 1) {
    this.#free = permits;
    this.#weight = weight;
  }

  /**
   * Waits for a permit.
   * @returns a function that releases the permit, to be called once
   * @throws the signal's reason, or the reason given to `close`
   */
  async acquire(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#closed) throw this.#closed.reason;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiter = { since: performance.now(), resolve, reject };
    this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), waiter]);
    const onAbort = () => {
      this.#remove(key, waiter);
      reject(signal.reason);
    };
    signal.addEventListener("abort", onAbort);
    this.#serve();
    await promise.finally(() => signal.removeEventListener("abort", onAbort));
    return () => {
      this.#changeHeld(key, -1);
      this.#serve();
    };
  }

  /** Returns how many requests of a key wait, and for how many milliseconds the first of them has waited. */
  queueDepth(key: string): { readonly depth: number; readonly waitedMs: number } {
    const waiters = this.#waiting.get(key) ?? [];
    return { depth: waiters.length, waitedMs: waiters[0] ? performance.now() - waiters[0].since : 0 };
  }

  /** Rejects all waiting and all later requests with the reason. */
  close(reason: unknown): void {
    this.#closed = { reason };
    for (const { reject } of [...this.#waiting.values()].flat()) reject(reason);
    this.#waiting.clear();
  }

  #serve(): void {
    // This loop also visits the keys that it moves to the end itself.
    for (const [key, [first]] of this.#waiting) {
      const held = this.#held.get(key) ?? 0;
      if (!first || this.#free === 0 || (held > 0 && held + 1 > this.#weight * (this.#free - 1))) continue;
      this.#changeHeld(key, 1);
      this.#remove(key, first, "to the end");
      first.resolve();
    }
  }

  #remove(key: string, waiter: Waiter, served?: "to the end"): void {
    const rest = (this.#waiting.get(key) ?? []).filter((other) => other !== waiter);
    if (served || rest.length === 0) this.#waiting.delete(key);
    if (rest.length > 0) this.#waiting.set(key, rest);
  }

  #changeHeld(key: string, change: 1 | -1): void {
    this.#free -= change;
    const held = (this.#held.get(key) ?? 0) + change;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
  }
}
