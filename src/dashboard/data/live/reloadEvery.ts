import { useComputed } from "@preact/signals";
import { useEffect, useRef } from "preact/hooks";
import { now } from "../../clock.ts";
import { liveState } from "./live.ts";

/**
 * Reloads data without live events at this interval while the page is visible and the service reachable, and as soon as
 * it is reachable again.
 */
export function useReloadEvery(reload: () => void, everyMs: number): void {
  const turn = useComputed(() => Math.floor(now.value / everyMs)).value;
  const isAway = useComputed(() => liveState.value === "away").value;
  const isMounted = useRef(false);
  useEffect(() => {
    if (isMounted.current && !isAway) reload();
    isMounted.current = true;
  }, [turn, isAway]);
}
