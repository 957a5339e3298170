/** A signal that fires with any of some others, or, with the reason LATE, once its time is over. */
export interface Leash {
  readonly signal: AbortSignal;
  /** The time begins anew. */
  restart(): void;
  /** The time does not count until the next restart. */
  hold(): void;
  /** Lets go of the other signals, and ends whatever is still under way. */
  end(): void;
}

export type Signals = readonly (AbortSignal | undefined)[];

/** The one of them that has fired. */
export const firedOf = (signals: Signals): AbortSignal | undefined => signals.find((signal) => signal?.aborted);

export const LATE = new Error("late");

/** The longest that a timer can be set to: with more it fires at once. */
export const LONGEST_MS = 2 ** 31 - 1;

const waiting = new WeakMap<AbortSignal, Set<() => void>>();

/**
 * Does it once the signal fires. Each signal has one listener, however many wait for it: Node 20 takes more than ten for a leak.
 * @returns takes it back
 */
export function whenFired(signal: AbortSignal | undefined, act: () => void): () => void {
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
export function leash(ms: number, signals: Signals): Leash {
  const controller = new AbortController();
  let timer: ReturnType<typeof setTimeout> | undefined;
  const hold = () => clearTimeout(timer);
  const restart = () => {
    hold();
    timer = setTimeout(() => controller.abort(LATE), Math.min(ms, LONGEST_MS));
  };
  const follow = () => {
    const fired = firedOf(signals);
    if (fired) controller.abort(fired.reason);
  };
  const ends = signals.map((signal) => whenFired(signal, follow));
  follow();
  restart();
  return {
    signal: controller.signal,
    restart,
    hold,
    end() {
      hold();
      for (const letGo of ends) letGo();
      controller.abort();
    },
  };
}
