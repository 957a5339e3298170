/** A function that calls another one at most once in an interval. */
export interface Throttled<Args extends unknown[]> {
  /** Schedules a call at the end of the interval, unless one is scheduled. The call gets the latest arguments. */
  (...args: Args): void;
  /** Discards the scheduled call. */
  cancel(): void;
}

export function throttle<Args extends unknown[]>(act: (...args: Args) => void, ms: number): Throttled<Args> {
  let timer: NodeJS.Timeout | undefined;
  let latest: Args;
  const throttled = (...args: Args) => {
    latest = args;
    timer ??= setTimeout(() => {
      timer = undefined;
      act(...latest);
    }, ms);
  };
  const cancel = () => {
    clearTimeout(timer);
    timer = undefined;
  };
  return Object.assign(throttled, { cancel });
}
