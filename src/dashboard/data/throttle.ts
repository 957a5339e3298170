/** Calls something soon after it is asked for, and however often that is, no more than once in a while. */
export interface Throttled {
  (): void;
  /** Forgets what was asked for. */
  stop(): void;
}

export function throttle(act: () => void, everyMs: number): Throttled {
  let timer: ReturnType<typeof setTimeout> | undefined;
  let last = Number.NEGATIVE_INFINITY;
  const ask = () => {
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
  return Object.assign(ask, { stop });
}
