import { useEffect } from "preact/hooks";
import type { WatchOptions } from "../../../client/client.ts";
import { followLive, type LiveHandlers } from "./live.ts";
import type { LiveList } from "./liveList.ts";

/**
 * Reads a list once the live connection has started, so that no change is missed and nothing is read twice, and again
 * after events were lost. A new list replaces the former one, with the handlers of its render. Closes the list with the
 * component.
 */
export function useLiveList<Row>(list: LiveList<Row>, what: WatchOptions, handlers: Partial<LiveHandlers> = {}): void {
  useEffect(() => {
    const onStart = () => {
      void list.reload();
      handlers.onStart?.();
    };
    const stop = followLive(what, { ...handlers, onStart });
    return () => {
      stop();
      list.close();
    };
  }, [list]);
}
