import { setTimeout as pause } from "node:timers/promises";
import { TIMINGS, type Timings } from "../../shared/timings.ts";

/** At most so long a service is left alone, whatever it says. */
const MOST_LIMIT_MS = 24 * 3_600_000;
/** The same of one that does not say how long. */
const MOST_UNTOLD_MS = 5 * 60_000;
/** So much longer at most, by chance, so that not all come back at once. */
const JITTER = 0.25;

/**
 * How long a limit is obeyed.
 * @param toldMs what the service says; null where it does not
 * @param untold how many limits there were in a row of which it did not say, with this one
 */
export function limitMs(toldMs: number | null, untold: number, timings = TIMINGS.channel): number {
  if (toldMs !== null) return Math.min(Math.max(toldMs, timings.minLimitMs), MOST_LIMIT_MS);
  const doubled = Math.min(timings.initialBackoffMs * 2 ** (untold - 1), MOST_UNTOLD_MS);
  return doubled * (1 + JITTER * Math.random());
}

/** Leave to hand one message over, to be given back by `heard`; or for how long there is none, and why. */
export type Pass =
  | { readonly kind: "open"; readonly era: number }
  | { readonly kind: "closed"; readonly forMs: number; readonly reason: string };

/**
 * When a channel may be used: not while its service wants to be left alone, nor while its credentials are not good. After
 * either one message at a time is tried, until one has shown that all is well.
 *
 * An era ends with each closure: what was handed over before one proves nothing after it.
 */
export class ChannelGate {
  readonly #timings: Timings["channel"];
  #era = 0;
  #limit = { until: 0, reason: "", era: 0 };
  /** In a row, of those that were handed over after the one before. */
  #untoldLimits = 0;
  #stop = { until: 0, reason: "", era: 0, at: new Date(0) };
  #isStopped = false;
  /** Closed since a message last showed that all is well. */
  #isInDoubt = false;
  #isProbed = false;

  constructor(timings = TIMINGS.channel) {
    this.#timings = timings;
  }

  /**
   * Keeps everybody out for a while; a longer closure stays as it is.
   * @param era in which the message was handed over that met the limit
   * @param toldMs what the service says; null where it does not
   * @returns milliseconds
   */
  limit(era: number, toldMs: number | null, reason: string): number {
    const isNew = era >= this.#limit.era;
    if (isNew && toldMs === null) this.#untoldLimits++;
    const forMs = limitMs(toldMs, Math.max(this.#untoldLimits, 1), this.#timings);
    const until = Math.max(this.#limit.until, performance.now() + forMs);
    this.#limit = { until, reason, era: isNew ? this.#close() : this.#limit.era };
    return forMs;
  }

  /**
   * The same because of bad credentials.
   * @param at what the clock said
   * @returns whether they were believed to be good
   */
  stop(era: number, forMs: number, reason: string, at: Date): boolean {
    if (era < this.#stop.era) return false;
    const isNew = !this.#isStopped;
    this.#isStopped = true;
    this.#stop = { until: performance.now() + forMs, reason, at, era: this.#close() };
    return isNew;
  }

  #close(): number {
    this.#isInDoubt = true;
    this.#isProbed = false;
    this.#era++;
    return this.#era;
  }

  /** Tells what became of a message that had leave. @returns whether that ends a stop */
  heard(era: number, isWell: boolean): boolean {
    if (era !== this.#era) return false;
    this.#isProbed = false;
    if (!isWell) return false;
    const wasStopped = this.#isStopped;
    this.#isStopped = false;
    this.#isInDoubt = false;
    this.#untoldLimits = 0;
    this.#stop.until = 0;
    return wasStopped;
  }

  /**
   * Waits until the channel may be used, but not for long.
   * @param askedAt when somebody has asked for this very message by hand: after a stop it is tried before its time is over,
   *   for the credentials may have been mended; a limit it obeys
   */
  async pass(signal: AbortSignal, askedAt?: Date): Promise<Pass> {
    for (;;) {
      const closure = this.#closure(askedAt);
      const forMs = closure.until - performance.now();
      if (forMs > this.#timings.maxWaitMs || signal.aborted) {
        return { kind: "closed", forMs: Math.max(forMs, 1), reason: closure.reason };
      }
      if (forMs <= 0 && !this.#isProbed) {
        this.#isProbed = this.#isInDoubt;
        return { kind: "open", era: this.#era };
      }
      await pause(Math.max(forMs, this.#timings.probePollMs), undefined, { signal }).catch(() => {});
    }
  }

  #closure(askedAt: Date | undefined): { readonly until: number; readonly reason: string } {
    const isAsked = askedAt !== undefined && askedAt > this.#stop.at;
    return isAsked || this.#limit.until > this.#stop.until ? this.#limit : this.#stop;
  }
}
