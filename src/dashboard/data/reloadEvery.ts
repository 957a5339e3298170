import { useEffect } from "preact/hooks";
import { now } from "../clock.ts";
import { liveState } from "./live.ts";
import { useStore } from "./useStore.ts";

/** Reloads data without live events at this interval, while the page is visible and connected. */
export function useReloadEvery(reload: () => void, everyMs: number): void {
  const turn = Math.floor(useStore(now) / everyMs);
  const isLive = useStore(liveState) === "live";
  useEffect(() => {
    if (isLive) reload();
  }, [turn, isLive]);
}
