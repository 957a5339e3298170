import { setTimeout as pause } from "node:timers/promises";

/** A pause that is not longer is waited for; what waits longer is given back. */
const WAITED_FOR_MS = 5_000;

/** When a channel may be used: not while its service wants to be left alone, or its credentials are not good. */
export class ChannelGate {
  #closedUntil = 0;
  /** Why nobody may pass, in the words of whoever closed it last. */
  reason = "";

  /** Keeps everybody out for a while; a longer closure stays as it is. */
  close(forMs: number, reason: string): void {
    this.#closedUntil = Math.max(this.#closedUntil, performance.now() + forMs);
    this.reason = reason;
  }

  /**
   * Waits until the channel may be used.
   * @returns milliseconds until when it may not, where that is too long to wait for; 0 when it may be used now
   */
  async pass(signal: AbortSignal): Promise<number> {
    for (;;) {
      const left = this.#closedUntil - performance.now();
      if (left <= 0) return 0;
      if (left > WAITED_FOR_MS || signal.aborted) return left;
      await pause(left, undefined, { signal }).catch(() => {});
    }
  }
}
