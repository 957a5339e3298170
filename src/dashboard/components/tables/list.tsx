import type { ComponentChildren, VNode } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { LiveList } from "../../data/live/liveList.ts";
import { visible } from "../../text.ts";
import { count } from "../../time.ts";
import { Icon } from "../icon.tsx";
import { Failure, NoMatch } from "../notice.tsx";
import { Rows, type RowsProps } from "./rows.tsx";

export interface Column<Row> {
  readonly title: string;
  /** Selects the style of the cells, `cell-NAME`. */
  readonly name: string;
  /** The width in a wide window, unless the style of the table has the widths. */
  readonly width?: string;
  /** Returns the content of a cell. In one column it is a link to the row's page. */
  readonly cell: (row: Row) => ComponentChildren;
}

interface ListProps<Row> {
  readonly list: LiveList<Row>;
  readonly label: string;
  /** The noun for one row and for several. */
  readonly noun: readonly [one: string, several: string];
  readonly columns: readonly Column<Row>[];
  readonly kind: string;
  /** Whether a list without rows may have some with other filters. */
  readonly isFiltered?: boolean;
  /** Advice about the filters when no row matches. */
  readonly hint?: string;
  /** The content of an empty list without filters. */
  readonly empty: VNode;
}

/** Above this number of rows the list is truncated once the page has been scrolled to the top for AT_TOP_MS. */
const MAX_IDLE_ROWS = 2_000;
const AT_TOP_MS = 10_000;

/**
 * A live list in all its states: empty, failed, loading, and with more rows than are loaded. When the list is replaced,
 * as by another filter, the rows of the former one stay until the new ones are loaded.
 */
export function List<Row>({
  list: wanted,
  label,
  noun,
  columns,
  kind,
  isFiltered = false,
  hint,
  empty,
}: ListProps<Row>) {
  const shown = useRef({ list: wanted, key: 0 });
  const isPending = wanted.view.value.state === "first" && wanted.view.value.error === null;
  if (!isPending && shown.current.list !== wanted) shown.current = { list: wanted, key: shown.current.key + 1 };
  const { list, key } = shown.current;
  const { rows, state, error, hasMore, arrived } = list.view.value;
  const [isAtTop, setAtTop] = useState(true);
  if (isAtTop && arrived > 0) list.markSeen();
  useTruncation(list, isAtTop && rows.length > MAX_IDLE_ROWS);
  if (rows.length === 0 && error) return <Failure error={error} retry={() => list.reload()} />;
  if (rows.length === 0 && (state === "first" || isPending)) return <Skeleton />;
  if (rows.length === 0) return isFiltered ? <NoMatch rows={noun[1]} hint={hint} /> : empty;
  return (
    <>
      {!isAtTop && arrived > 0 && (
        <button type="button" class="arrived primary" onClick={() => scrollTo({ top: 0 })}>
          <Icon name="up" /> {count(arrived)} new {noun[arrived === 1 ? 0 : 1]}
        </button>
      )}
      <Table
        key={key}
        label={label}
        kind={kind}
        columns={columns}
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

interface TableProps<Row> extends Omit<RowsProps<Row>, "columns" | "widths" | "cells"> {
  readonly columns: readonly Column<Row>[];
}

/** Rows whose cells come from columns. */
export function Table<Row>({ columns, ...rows }: TableProps<Row>) {
  const widths = columns.map(({ width = "" }) => width).join(" ");
  return (
    <Rows
      {...rows}
      columns={columns.map(({ title }) => title)}
      widths={widths.trim() || undefined}
      cells={(row) => <Cells row={row} columns={columns} />}
    />
  );
}

/** The cells of a row: a component, so that a signal that a cell reads renders its row only. */
function Cells<Row>({ row, columns }: { row: Row; columns: readonly Column<Row>[] }) {
  return (
    <>
      {columns.map(({ name, cell }) => (
        <span key={name} role="cell" class={`cell-${name}`}>
          {cell(row)}
        </span>
      ))}
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

interface RowNameProps {
  readonly href: string;
  readonly name: string;
  /** The tooltip of the name, if it is not the name. */
  readonly title?: string;
  /** Whether the page shows the row's record now. */
  readonly isCurrent?: boolean;
  /** The text by which readers tell rows of the same name apart. */
  readonly id: string | null;
  /** The tooltip of the id, if it is not the id. */
  readonly idTitle?: string;
}

/** The content of a cell with the name of a row, which leads to the row's page, and an id below or beside it. */
export function RowName({
  href,
  name,
  title = visible(name),
  isCurrent = false,
  id,
  idTitle = visible(id ?? ""),
}: RowNameProps) {
  return (
    <>
      <a href={href} dir="auto" title={title} aria-current={isCurrent ? "true" : undefined}>
        {visible(name)}
      </a>
      {id !== null && (
        <bdi class="id muted" title={idTitle}>
          {visible(id)}
        </bdi>
      )}
    </>
  );
}
