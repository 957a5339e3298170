/** Stores what is collected between two writes: some time after the first piece, or at once by `flush`. Writes one at a time. */
export class DelayedFlush {
  readonly #store: () => Promise<void>;
  readonly #delayMs: number;
  #timer: NodeJS.Timeout | undefined;
  #storing = Promise.resolve();

  /** @param store stores everything that is collected at that moment; never throws */
  constructor(store: () => Promise<void>, delayMs: number) {
    this.#store = store;
    this.#delayMs = delayMs;
  }

  /** Stores after the delay, together with what is collected until then. */
  schedule(): void {
    this.#timer ??= setTimeout(() => void this.flush(), this.#delayMs);
  }

  /** Stores now. */
  async flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#storing = this.#storing.then(this.#store);
    await this.#storing;
  }
}
