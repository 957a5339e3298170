import { setTimeout as pause } from "node:timers/promises";
import { backoff, MAX_RETRY_AFTER_MS } from "../../shared/backoff.ts";
import { TIMINGS, type Timings } from "../../shared/timings.ts";

/** Maximum backoff after a rate limit without `Retry-After`. */
const MAX_BACKOFF_MS = 5 * 60_000;
/** Maximum random part added to a backoff, so that workers do not all return at once. */
const JITTER = 0.25;

/**
 * Returns for how many milliseconds a rate limit is obeyed: as long as the service asks for, between `timings.minLimitMs`
 * and a day, or else an exponential backoff with jitter.
 * @param retryAfterMs the time that the service asks for; null when it names none
 * @param limits the number of consecutive limits without a time, this one included
 */
export function limitMs(retryAfterMs: number | null, limits: number, timings = TIMINGS.channel): number {
  if (retryAfterMs !== null) return Math.min(Math.max(retryAfterMs, timings.minLimitMs), MAX_RETRY_AFTER_MS);
  return backoff({ initialMs: timings.initialBackoffMs, maxMs: MAX_BACKOFF_MS, jitter: JITTER })(limits);
}

/** Permission to send one message, whose result must be passed to `report`; or a refusal, its duration and its reason. */
export type Admission =
  | { readonly kind: "admitted"; readonly epoch: number }
  | { readonly kind: "refused"; readonly forMs: number; readonly reason: string };

/**
 * Decides when a channel may be used. It is a circuit breaker with three states:
 *
 * - READY: every message is admitted.
 * - CLOSED: no message is admitted, because the service limits the rate (`limit`) or refuses the credentials (`stop`).
 * - PROBING: the closure has expired. One message at a time is admitted, until one shows that the service works again.
 *
 *     READY --limit, stop--> CLOSED --time passes--> PROBING --report(works)--> READY
 *                            CLOSED <--limit, stop-- PROBING
 *
 * Each closure begins a new epoch. The result of a message that was admitted in an earlier epoch says nothing about the
 * current one and is ignored.
 */
export class ChannelLimiter {
  readonly #timings: Timings["channel"];
  #epoch = 0;
  #limit = { until: 0, reason: "", epoch: 0 };
  /** Consecutive limits without a time. Messages admitted in the same epoch count once. */
  #limitsWithoutTime = 0;
  #stop = { until: 0, reason: "", epoch: 0, at: new Date(0), since: new Date(0) };
  /** True from a stop until a message shows that the credentials are accepted. */
  #isStopped = false;
  /** False in the state READY. */
  #needsProbe = false;
  /** True while an admitted message probes the channel. */
  #isProbing = false;
  /** The number of urgent messages that wait. Others are not admitted before them. */
  #urgent = 0;

  constructor(timings = TIMINGS.channel) {
    this.#timings = timings;
  }

  /**
   * Closes the channel because the service limits the rate. A closure that lasts longer is not shortened.
   * @param epoch the epoch in which the limited message was admitted
   * @param retryAfterMs the time that the service asks for; null when it names none
   * @returns for how many milliseconds this limit is obeyed
   */
  limit(epoch: number, retryAfterMs: number | null, reason: string): number {
    const isNew = epoch >= this.#limit.epoch;
    if (isNew && retryAfterMs === null) this.#limitsWithoutTime++;
    const forMs = limitMs(retryAfterMs, Math.max(this.#limitsWithoutTime, 1), this.#timings);
    const until = Math.max(this.#limit.until, performance.now() + forMs);
    this.#limit = { until, reason, epoch: isNew ? this.#close() : this.#limit.epoch };
    return forMs;
  }

  /**
   * Closes the channel because the service refuses the credentials.
   * @param epoch the epoch in which the refused message was admitted
   * @param at the time of the refusal
   * @returns true when the channel was not stopped already
   */
  stop(epoch: number, forMs: number, reason: string, at: Date): boolean {
    if (epoch < this.#stop.epoch) return false;
    const isNew = !this.#isStopped;
    this.#isStopped = true;
    const since = isNew ? at : this.#stop.since;
    this.#stop = { until: performance.now() + forMs, reason, at, since, epoch: this.#close() };
    return isNew;
  }

  /** Since when and why the service refuses the credentials; undefined when it does not. */
  get stopped(): { readonly since: Date; readonly reason: string } | undefined {
    const { since, reason } = this.#stop;
    return this.#isStopped ? { since, reason } : undefined;
  }

  #close(): number {
    this.#needsProbe = true;
    this.#isProbing = false;
    this.#epoch++;
    return this.#epoch;
  }

  /**
   * Reports the result of an admitted message.
   * @param works whether the result shows that the service accepts the credentials and does not limit the rate
   * @returns true when the report ends a stop
   */
  report(epoch: number, works: boolean): boolean {
    if (epoch !== this.#epoch) return false;
    this.#isProbing = false;
    if (!works) return false;
    const wasStopped = this.#isStopped;
    this.#isStopped = false;
    this.#needsProbe = false;
    this.#limitsWithoutTime = 0;
    this.#stop.until = 0;
    return wasStopped;
  }

  /**
   * Waits until the channel may be used, for at most `timings.maxWaitMs`.
   * @param retriedAt when this message was last retried by hand. After a stop such a message is admitted early, because the
   *   credentials may have been corrected; it obeys limits like any other.
   * @param isUrgent whether the message goes before the others, such as a question to a person
   */
  async admit(signal: AbortSignal, retriedAt?: Date, isUrgent = false): Promise<Admission> {
    if (!isUrgent) return this.#admit(signal, retriedAt, isUrgent);
    this.#urgent++;
    return this.#admit(signal, retriedAt, isUrgent).finally(() => this.#urgent--);
  }

  async #admit(signal: AbortSignal, retriedAt: Date | undefined, isUrgent: boolean): Promise<Admission> {
    for (;;) {
      const closure = this.#closure(retriedAt);
      const forMs = closure.until - performance.now();
      if (forMs > this.#timings.maxWaitMs || signal.aborted) {
        return { kind: "refused", forMs: Math.max(forMs, 1), reason: closure.reason };
      }
      if (forMs <= 0 && !this.#isProbing && (isUrgent || this.#urgent === 0)) {
        this.#isProbing = this.#needsProbe;
        return { kind: "admitted", epoch: this.#epoch };
      }
      await pause(Math.max(forMs, this.#timings.probePollMs), undefined, { signal }).catch(() => {});
    }
  }

  #closure(retriedAt: Date | undefined): { readonly until: number; readonly reason: string } {
    const ignoresStop = retriedAt !== undefined && retriedAt > this.#stop.at;
    return ignoresStop || this.#limit.until > this.#stop.until ? this.#limit : this.#stop;
  }
}
