/** A time limit whose signal is also aborted by other signals. After the time limit its reason is TIMED_OUT. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** Removes the listeners of the other signals and aborts whatever still uses the signal. */
  end(): void;
}

export type Signals = readonly (AbortSignal | undefined)[];

/** Returns the first aborted signal. */
export const abortedOf = (signals: Signals): AbortSignal | undefined => signals.find((signal) => signal?.aborted);

export const TIMED_OUT = new Error("timeout");

/** The maximum delay of a timer; a longer one would fire at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

const listeners = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Calls the listener when the signal is aborted, and returns a function that removes the listener. Each signal gets
 * only one event listener, because Node 20 warns of a leak above ten.
 */
export function onAbort(signal: AbortSignal | undefined, listener: () => void): () => void {
  if (!signal) return () => {};
  const ofSignal = listeners.get(signal) ?? new Set();
  if (!listeners.has(signal)) {
    signal.addEventListener("abort", () => {
      for (const one of ofSignal) one();
    });
  }
  listeners.set(signal, ofSignal.add(listener));
  return () => ofSignal.delete(listener);
}

/** Starts a deadline. AbortSignal.any would leak memory in signals that outlive the request. */
export function startDeadline(ms: number, signals: Signals): Deadline {
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(TIMED_OUT), Math.min(ms, MAX_TIMER_MS));
  const follow = () => {
    const aborted = abortedOf(signals);
    if (aborted) controller.abort(aborted.reason);
  };
  const removers = signals.map((signal) => onAbort(signal, follow));
  follow();
  return {
    signal: controller.signal,
    end() {
      clearTimeout(timer);
      for (const remove of removers) remove();
      controller.abort();
    },
  };
}
