import { useEffect, useMemo, useRef } from "preact/hooks";
import { type Throttled, throttle } from "./throttle.ts";

/** Minimum interval of reloads that events cause. */
const RELOAD_EVERY_MS = 1_000;

/** Returns a function that calls the component's latest `act`, throttled, until the component is unmounted. */
export function useThrottle(act: () => void, everyMs = RELOAD_EVERY_MS): Throttled {
  const latest = useRef(act);
  latest.current = act;
  const throttled = useMemo(() => throttle(() => latest.current(), everyMs), []);
  useEffect(() => throttled.stop, []);
  return throttled;
}
