import { setTimeout as pause } from "node:timers/promises";

/** A pause that is not longer is waited for; what waits longer is given back. */
const WAITED_FOR_MS = 5_000;
/** How soon those who wait for somebody's try of the credentials look again. */
const PROBE_LOOK_MS = 200;

/**
 * When a channel may be used: not while its service wants to be left alone, nor while its credentials are not good. After
 * such a stop one tries them at a time, until they have proved good.
 */
export class ChannelGate {
  #closedUntil = 0;
  #stops = 0;
  #isStopped = false;
  #isProbed = false;
  /** Why nobody may pass, in the words of whoever closed it last. */
  reason = "";

  /** Keeps everybody out for a while; a longer closure stays as it is. */
  close(forMs: number, reason: string): void {
    this.#closedUntil = Math.max(this.#closedUntil, performance.now() + forMs);
    this.reason = reason;
  }

  /** The same because of bad credentials. @returns whether they were believed to be good */
  stop(forMs: number, reason: string): boolean {
    const isNew = !this.#isStopped;
    this.close(forMs, reason);
    this.#isStopped = true;
    this.#isProbed = false;
    this.#stops++;
    return isNew;
  }

  /** Names the time before and after each stop: what began before one proves nothing after it. */
  get era(): number {
    return this.#stops;
  }

  /** Tells what a message that was handed over says of the credentials. @returns whether that ends a stop */
  heard(era: number, areGood: boolean): boolean {
    if (!this.#isStopped || era !== this.#stops) return false;
    this.#isProbed = false;
    if (areGood) this.#isStopped = false;
    return areGood;
  }

  /**
   * Waits until the channel may be used.
   * @returns milliseconds until when it may not, where that is too long to wait for; 0 when it may be used now
   */
  async pass(signal: AbortSignal): Promise<number> {
    for (;;) {
      const left = this.#closedUntil - performance.now();
      if (left > WAITED_FOR_MS || signal.aborted) return Math.max(left, 1);
      if (left <= 0 && !this.#isProbed) {
        this.#isProbed = this.#isStopped;
        return 0;
      }
      await pause(Math.max(left, PROBE_LOOK_MS), undefined, { signal }).catch(() => {});
    }
  }
}
