/** A signal that fires with any of some others, or, with the reason LATE, once its time is over. */
export interface Deadline {
  readonly signal: AbortSignal;
  /** The time begins anew. */
  restart(): void;
  /** The time does not count until the next restart. */
  suspend(): void;
  /** Lets go of the other signals, and ends whatever is still under way. */
  end(): void;
}

export type Signals = readonly (AbortSignal | undefined)[];

/** The one of them that has fired. */
export const abortedOf = (signals: Signals): AbortSignal | undefined => signals.find((signal) => signal?.aborted);

export const TIMED_OUT = new Error("late");

/** The longest that a timer can be set to: with more it fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Does it once the signal fires. Each signal has one listener, however many wait for it: Node 20 takes more than ten for a leak.
 * @returns takes it back
 */
export function onAbort(signal: AbortSignal | undefined, act: () => void): () => void {
  if (!signal) return () => {};
  const acts = waiting.get(signal) ?? new Set();
  if (!waiting.has(signal)) {
    signal.addEventListener("abort", () => {
      for (const one of acts) one();
    });
  }
  waiting.set(signal, acts.add(act));
  return () => acts.delete(act);
}

/** AbortSignal.any would keep memory in signals that outlive the request: on Node 22 some 2 KB for each call. */
export function startDeadline(ms: number, signals: Signals): Deadline {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const suspend = () => clearTimeout(timer);
  const restart = () => {
    suspend();
    timer = setTimeout(() => controller.abort(TIMED_OUT), Math.min(ms, MAX_TIMER_MS));
  };
  const follow = () => {
    const aborted = abortedOf(signals);
    if (aborted) controller.abort(aborted.reason);
  };
  const ends = signals.map((signal) => onAbort(signal, follow));
  follow();
  restart();
  return {
    signal: controller.signal,
    restart,
    suspend,
    end() {
      suspend();
      for (const letGo of ends) letGo();
      controller.abort();
    },
  };
}
