import { useEffect, useMemo } from "preact/hooks";
import type { WatchOptions } from "../../../client/client.ts";
import { followLive, type LiveHandlers } from "./live.ts";
import { type ListSource, LiveList } from "./liveList.ts";

interface RowFields<Row> {
  /** The field with the id of a row. */
  readonly id: keyof Row;
  /** The field with the time that orders the rows. */
  readonly time: keyof Row;
  /** The filters that the rows are read with: other ones make another list. */
  readonly filters?: readonly unknown[];
  readonly merge?: ListSource<Row>["merge"];
}

/** Returns a list of rows that `load` reads. `useLiveList` keeps it up to date. */
export function useRows<Row>(
  { id, time, filters = [], merge }: RowFields<Row>,
  load: ListSource<Row>["load"],
): LiveList<Row> {
  return useMemo(() => {
    const idOf = (row: Row) => String(row[id]);
    const createdAt = (row: Row) => String(row[time]);
    return new LiveList<Row>({ idOf, createdAt, load, ...(merge && { merge }) });
  }, filters);
}

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
