import { useComputed } from "@preact/signals";
import { useEffect } from "preact/hooks";
import { now } from "../../clock.ts";
import { liveState } from "./live.ts";

/** Reloads data without live events at this interval, while the page is visible and connected. */
export function useReloadEvery(reload: () => void, everyMs: number): void {
  const turn = useComputed(() => Math.floor(now.value / everyMs)).value;
  const isLive = useComputed(() => liveState.value === "live").value;
  useEffect(() => {
    if (isLive) reload();
  }, [turn, isLive]);
}
