/** Collects requests to list the mailbox. All requests made during a listing share the next one. */
export class ListingRequests {
  #waiting: (() => void)[] = [];
  #wake = new AbortController();

  /** Requests a listing and resolves once one that began after this call has succeeded. Rejects with the signal's reason. */
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

  /** A signal that is aborted as soon as a request is waiting. */
  get requested(): AbortSignal {
    return this.#wake.signal;
  }

  /** Runs a listing and resolves the requests made before it. If it fails, they wait for the next one. */
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
