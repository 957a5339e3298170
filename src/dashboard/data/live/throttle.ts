/** A throttled function. */
export interface Throttled {
  /** Requests a call. */
  (): void;
  /** Cancels the requested call. */
  stop(): void;
}

/**
 * Returns a function that calls `act` once for all requests so far, at most every `everyMs` and never synchronously.
 */
export function throttle(act: () => void, everyMs: number): Throttled {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = Number.NEGATIVE_INFINITY;
  const request = () => {
    timer ??= setTimeout(
      () => {
        timer = undefined;
        last = performance.now();
        act();
      },
      Math.max(0, last + everyMs - performance.now()),
    );
  };
  const stop = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return Object.assign(request, { stop });
}
