interface Waiting {
  /** By `performance.now()`. */
  readonly since: number;
  readonly begin: () => void;
  readonly refuse: (reason: unknown) => void;
}

/**
 * Shares a number of places between keys. Requests of one key are served in order, the keys take turns, and a key that
 * holds places gets another only while it then holds at most `weight` times as many as stay free for others: with weight
 * 1, one key gets at most 4 of 8 places, a second one 2, a third and a fourth one each.
 */
export class FairSemaphore {
  #free: number;
  readonly #weight: number;
  readonly #held = new Map<string, number>();
  /** In turn: a key that was served goes to the end. */
  readonly #waiting = new Map<string, Waiting[]>();
  #closed: { readonly reason: unknown } | undefined;

  constructor(places: number, weight = 1) {
    this.#free = places;
    this.#weight = weight;
  }

  /**
   * Waits for a place.
   * @returns what gives it back, to be called once
   * @throws the signal's reason, or that of `close`
   */
  async take(key: string, signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (this.#closed) throw this.#closed.reason;
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = { since: performance.now(), begin: resolve, refuse: reject };
    this.#waiting.set(key, [...(this.#waiting.get(key) ?? []), waiting]);
    const leave = () => {
      this.#remove(key, waiting);
      reject(signal.reason);
    };
    signal.addEventListener("abort", leave);
    this.#serve();
    await promise.finally(() => signal.removeEventListener("abort", leave));
    return () => {
      this.#hold(key, -1);
      this.#serve();
    };
  }

  /** How many of a key wait, and for how long the first of them has, in milliseconds. */
  line(key: string): { readonly length: number; readonly ms: number } {
    const line = this.#waiting.get(key) ?? [];
    return { length: line.length, ms: line[0] ? performance.now() - line[0].since : 0 };
  }

  /** Refuses all who wait, and all who come. */
  close(reason: unknown): void {
    this.#closed = { reason };
    for (const { refuse } of [...this.#waiting.values()].flat()) refuse(reason);
    this.#waiting.clear();
  }

  #serve(): void {
    // A key that is put back at the end is met again by this same loop.
    for (const [key, [first]] of this.#waiting) {
      const held = this.#held.get(key) ?? 0;
      if (!first || this.#free === 0 || (held > 0 && held + 1 > this.#weight * (this.#free - 1))) continue;
      this.#hold(key, 1);
      this.#remove(key, first, "to the end");
      first.begin();
    }
  }

  #remove(key: string, waiting: Waiting, served?: "to the end"): void {
    const rest = (this.#waiting.get(key) ?? []).filter((one) => one !== waiting);
    if (served || rest.length === 0) this.#waiting.delete(key);
    if (rest.length > 0) this.#waiting.set(key, rest);
  }

  #hold(key: string, change: 1 | -1): void {
    this.#free -= change;
    const held = (this.#held.get(key) ?? 0) + change;
    if (held > 0) this.#held.set(key, held);
    else this.#held.delete(key);
  }
}
