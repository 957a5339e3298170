import { useComputed } from "@preact/signals";
import { type Inputs, useEffect, useMemo, useRef } from "preact/hooks";
import type { WatchOptions } from "../../../client/client.ts";
import { now } from "../../clock.ts";
import { followLive, type LiveHandlers, liveState } from "./live.ts";
import { type ListSource, LiveList, type PageQuery } from "./liveList.ts";
import { type Throttled, throttle } from "./throttle.ts";

/**
 * Passes live events to the handlers while the component is shown.
 * @param inputs the values of the component that the handlers use, apart from signals and refs
 */
export const useLive = (what: WatchOptions, handlers: LiveHandlers, inputs: Inputs = []): void =>
  useEffect(() => followLive(what, handlers), inputs);

interface RowFields<Name, Row> {
  /** The field of an answer with the rows. */
  readonly rows: Name;
  /** The field with the id of a row. */
  readonly id: keyof Row;
  /** The field with the time that orders the rows. */
  readonly time: keyof Row;
  /** The filters that the rows are read with: other ones make another list. */
  readonly filter?: object;
  readonly merge?: ListSource<Row>["merge"];
}

type Answer<Name extends string, Row> = { readonly nextCursor: string | null } & { readonly [N in Name]: Row[] };

/** Returns a list of the rows in the answers of `read`. `useLiveList` keeps it up to date. */
export function useRows<Name extends string, Row>(
  { rows, id, time, filter = {}, merge }: RowFields<Name, Row>,
  read: (page: PageQuery, options: { readonly signal: AbortSignal }) => Promise<Answer<Name, Row>>,
): LiveList<Row> {
  return useMemo(() => {
    const idOf = (row: Row) => String(row[id]);
    const createdAt = (row: Row) => String(row[time]);
    const load: ListSource<Row>["load"] = async (page, options) => {
      const answer = await read(page, options);
      return { rows: answer[rows], nextCursor: answer.nextCursor };
    };
    return new LiveList<Row>({ idOf, createdAt, load, ...(merge && { merge }) });
  }, [JSON.stringify(filter)]);
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

/**
 * Reloads data without live events at this interval while the page is visible and the service reachable, and as soon as
 * it is reachable again.
 */
export function useReloadEvery(reload: () => void, everyMs = 15_000): void {
  const turn = useComputed(() => Math.floor(now.value / everyMs)).value;
  const isAway = useComputed(() => liveState.value === "away").value;
  const isMounted = useRef(false);
  useEffect(() => {
    if (isMounted.current && !isAway) reload();
    isMounted.current = true;
  }, [turn, isAway]);
}

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
