import { TIMINGS, type Timings } from "../../shared/timings.ts";

/** A request to a receiver: whether it was answered, with any status, how long it took, and for how long others have to wait. */
export interface Exchange {
  readonly isAnswered: boolean;
  readonly durationMs: number;
  readonly restMs?: number | undefined;
}

interface Receiver {
  active: number;
  permits: number;
  /** Duration of the last request. */
  lastMs: number;
  /** The end of a pause that the receiver asks for. */
  restsUntil: number;
  /** When the next delivery that finds no permit should return. */
  nextSlotAt: number;
}

/** A permit to send one request, which must be returned by `release`; or the pause after which to ask again. */
export type Permission = { readonly kind: "permitted" } | { readonly kind: "refused"; readonly forMs: number };

/** Maximum concurrent requests of this process to one receiver that answers promptly. */
const MAX_PERMITS = 10;
/** Concurrent requests to a receiver that has not answered yet: few, because it may hang. */
const INITIAL_PERMITS = 2;
/** The share of the time limit within which a receiver answers promptly. */
const PROMPT_SHARE = 0.25;
/** Maximum receivers that are remembered. Callers choose the hosts of callbacks, so that there may be any number. */
const MAX_RECEIVERS = 10_000;

/**
 * Limits the concurrent requests to each receiver, so that those that hang leave the process free for the others. A
 * receiver begins with two permits; each prompt answer doubles them up to ten, and a slow or missing one leaves a single
 * permit.
 *
 * A delivery without a permit does not wait in place. The pauses of such deliveries are spread by the duration of the
 * receiver's last request: many deliveries to a dead receiver return one after the other, at most about once a minute each.
 */
export class ReceiverLimiter {
  readonly #timings: Timings["webhook"];
  readonly #receivers = new Map<string, Receiver>();

  constructor(timings = TIMINGS.webhook) {
    this.#timings = timings;
  }

  acquire(name: string): Permission {
    const receiver = this.#receivers.get(name) ?? this.#add(name);
    const now = performance.now();
    if (now < receiver.restsUntil) return { kind: "refused", forMs: receiver.restsUntil - now };
    if (receiver.active < receiver.permits) {
      receiver.active++;
      return { kind: "permitted" };
    }
    const { minSlotMs, maxSlotMs } = this.#timings;
    const slotMs = Math.max(receiver.lastMs / receiver.permits, minSlotMs);
    const forMs = Math.max(receiver.nextSlotAt - now, 0) + slotMs;
    receiver.nextSlotAt = now + Math.min(forMs, maxSlotMs);
    return { kind: "refused", forMs: forMs < maxSlotMs ? forMs : maxSlotMs * (0.5 + Math.random() / 2) };
  }

  /** Returns a permit. @param exchange the request that was sent with it; undefined when none was, or when it was cut off */
  release(name: string, exchange: Exchange | undefined): void {
    const receiver = this.#receivers.get(name);
    if (!receiver) return;
    receiver.active--;
    if (!exchange) return;
    const { isAnswered, durationMs, restMs = 0 } = exchange;
    receiver.lastMs = durationMs;
    receiver.restsUntil = Math.max(receiver.restsUntil, performance.now() + restMs);
    const isPrompt = isAnswered && durationMs <= this.#timings.timeoutMs * PROMPT_SHARE;
    receiver.permits = isPrompt ? Math.min(receiver.permits * 2, MAX_PERMITS) : 1;
  }

  #add(name: string): Receiver {
    if (this.#receivers.size >= MAX_RECEIVERS) this.#forgetIdle();
    const receiver = { active: 0, permits: INITIAL_PERMITS, lastMs: 0, restsUntil: 0, nextSlotAt: 0 };
    this.#receivers.set(name, receiver);
    return receiver;
  }

  #forgetIdle(): void {
    for (const [name, { active }] of this.#receivers) if (active === 0) this.#receivers.delete(name);
  }
}
