/** Who wants the mailbox listed. Those who ask while one listing is under way are all served by the next. */
export class ListingRequests {
  #waiting: (() => void)[] = [];
  #wake = new AbortController();

  /** Resolves when a listing that began after this call has succeeded. Rejects with the signal's reason. */
  requestListing(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted();
    return new Promise((resolve, reject) => {
      const stop = () => reject(signal.reason);
      signal.addEventListener("abort", stop);
      this.#waiting.push(() => {
        signal.removeEventListener("abort", stop);
        resolve();
      });
      this.#wake.abort();
    });
  }

  /** Fires when somebody asks; at once while somebody waits. */
  get requested(): AbortSignal {
    return this.#wake.signal;
  }

  /** Lists, and tells those who asked before. When it fails they wait on. */
  async run(list: () => Promise<void>): Promise<void> {
    const served = this.#waiting;
    this.#waiting = [];
    this.#wake = new AbortController();
    try {
      await list();
    } catch (error) {
      this.#waiting.unshift(...served);
      throw error;
    }
    for (const resolve of served) resolve();
  }
}
