import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { LiveList } from "../../data/live/liveList.ts";
import { count } from "../../time.ts";
import { Icon } from "../icon.tsx";
import { Failure } from "../notice.tsx";
import { Rows } from "./rows.tsx";

interface ListProps<Row> {
  readonly list: LiveList<Row>;
  readonly label: string;
  /** The noun for one row and for several. */
  readonly noun: readonly [one: string, several: string];
  readonly columns: readonly string[];
  readonly widths?: string;
  readonly kind: string;
  readonly cells: (row: Row) => ComponentChildren;
  /** The content of an empty list. */
  readonly empty: VNode;
}

/** Above this number of rows the list is truncated once the page has been scrolled to the top for AT_TOP_MS. */
const MAX_IDLE_ROWS = 2_000;
const AT_TOP_MS = 10_000;

/**
 * A live list in all its states: empty, failed, loading, and with more rows than are loaded. When the list is replaced,
 * as by another filter, the rows of the former one stay until the new ones are loaded.
 */
export function List<Row>({ list: wanted, noun, empty, ...table }: ListProps<Row>) {
  const shown = useRef({ list: wanted, key: 0 });
  const isPending = wanted.view.value.state === "first" && wanted.view.value.error === null;
  if (!isPending && shown.current.list !== wanted) shown.current = { list: wanted, key: shown.current.key + 1 };
  const { list, key } = shown.current;
  const { rows, state, error, hasMore, arrived } = list.view.value;
  const [isAtTop, setAtTop] = useState(true);
  if (isAtTop && arrived > 0) list.markSeen();
  useTruncation(list, isAtTop && rows.length > MAX_IDLE_ROWS);
  if (rows.length === 0 && error) return <Failure error={error} retry={() => list.reload()} />;
  if (rows.length === 0) return state === "first" || isPending ? <Skeleton /> : empty;
  return (
    <>
      {!isAtTop && arrived > 0 && (
        <button type="button" class="arrived primary" onClick={() => scrollTo({ top: 0 })}>
          <Icon name="up" /> {count(arrived)} new {noun[arrived === 1 ? 0 : 1]}
        </button>
      )}
      <Rows
        key={key}
        {...table}
        idOf={list.idOf}
        isBusy={isPending}
        rows={rows}
        hasMore={hasMore && !isPending}
        onNearEnd={() => void list.loadMore()}
        onTop={setAtTop}
      />
      {error !== null && <Failure error={error} retry={() => list.reload()} />}
      {hasMore && !error && <p class="more muted">Loading more…</p>}
    </>
  );
}

/** Truncates the list: a page that stays open for days would otherwise keep and reload every row that ever arrived. */
function useTruncation<Row>(list: LiveList<Row>, isTooLong: boolean): void {
  useEffect(() => {
    if (!isTooLong) return;
    const timer = setTimeout(() => void list.truncate(), AT_TOP_MS);
    return () => clearTimeout(timer);
  }, [list, isTooLong]);
}

function Skeleton() {
  return (
    <div class="box" role="status">
      <span class="unseen">Loading…</span>
      {[0, 1, 2, 3, 4].map((at) => (
        <span key={at} class="skeleton-row" />
      ))}
    </div>
  );
}
