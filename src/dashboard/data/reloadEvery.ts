import { useEffect } from "preact/hooks";
import { now } from "../clock.ts";
import { liveState } from "./live.ts";
import { useStore } from "./useStore.ts";

/** Has something read again every few seconds that no live news tell of, while the page is looked at and connected. */
export function useReloadEvery(reload: () => void, everyMs: number): void {
  const turn = Math.floor(useStore(now) / everyMs);
  const isLive = useStore(liveState) === "live";
  useEffect(() => {
    if (isLive) reload();
  }, [turn, isLive]);
}
