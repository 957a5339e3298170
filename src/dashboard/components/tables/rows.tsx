import type { ComponentChildren } from "preact";
import { useCallback, useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { isTyping } from "../../shortcuts.tsx";

/** Number of rows rendered above and below the visible ones, so that scrolling shows no gap. */
const OVERSCAN = 8;
/** Number of rows before the end at which the next page is requested. */
const PREFETCH_ROWS = 40;

export interface RowsProps<Row> {
  readonly rows: readonly Row[];
  readonly idOf: (row: Row) => string;
  readonly label: string;
  readonly columns: readonly string[];
  /** The widths of the columns in a wide window, unless the style of the kind has them. */
  readonly widths?: string | undefined;
  /** Selects the style with the height of the rows, `--row-height`. */
  readonly kind: string;
  /** Renders the cells of a row, each with the role `cell` and one of them with a link to the row's page, or a button `fold`. */
  readonly cells: (row: Row) => ComponentChildren;
  /** Whether other rows are being loaded in place of these. */
  readonly isBusy?: boolean;
  readonly hasMore?: boolean;
  /** Whether the keys j and k move through the rows: false for a table above another one. */
  readonly hasKeys?: boolean;
  readonly onNearEnd?: () => void;
  /** Called with whether the first row is visible. */
  readonly onTop?: (isAtTop: boolean) => void;
}

interface Span {
  readonly from: number;
  readonly to: number;
  readonly height: number;
}

/**
 * A virtualized table that scrolls with the page: only the visible rows are in the document. All rows have the same
 * height. Rows that arrive above do not move the visible ones. The keys j and k, or the arrows, move through the rows.
 */
export function Rows<Row>(props: RowsProps<Row>) {
  const {
    rows,
    idOf,
    label,
    columns,
    widths,
    kind,
    cells,
    isBusy = false,
    hasMore = false,
    hasKeys = true,
    onNearEnd,
    onTop,
  } = props;
  const body = useRef<HTMLDivElement>(null);
  const [span, setSpan] = useState<Span>({ from: 0, to: 30, height: 0 });
  const updateSpan = useCallback(() => {
    if (!body.current) return;
    const visible = spanOf(body.current);
    setSpan((before) => (isSame(before, visible) ? before : visible));
  }, []);
  useEffect(() => {
    addEventListener("scroll", updateSpan, { passive: true });
    addEventListener("resize", updateSpan);
    return () => {
      removeEventListener("scroll", updateSpan);
      removeEventListener("resize", updateSpan);
    };
  }, []);
  useLayoutEffect(updateSpan); // The content above the table may have changed its height.
  useScrollAnchor(body, rows, idOf, span);
  useEffect(() => {
    if (hasMore && span.to > rows.length - PREFETCH_ROWS) onNearEnd?.();
    onTop?.(span.from === 0);
  }, [span, rows.length, hasMore]);
  useKeyboardNavigation(body, hasKeys ? rows.length : 0, span.height);
  const shown = span.height > 0 ? rows.slice(span.from, span.to) : rows.slice(0, 1);
  return (
    <div
      class={`table box table-${kind}`}
      style={{ "--columns": widths }}
      role="table"
      aria-label={label}
      aria-rowcount={hasMore ? -1 : rows.length + 1}
      aria-busy={isBusy}
    >
      <div role="rowgroup" class="table-head">
        <div role="row" class="row small muted" aria-rowindex={1}>
          {columns.map((title) => (
            <span key={title} role="columnheader" class={`head-${title.toLowerCase()}`}>
              {title}
            </span>
          ))}
        </div>
      </div>
      <div role="rowgroup" class="table-body" ref={body} style={{ height: `${rows.length * span.height}px` }}>
        {shown.map((row, at) => {
          const index = span.from + at;
          const y = `translateY(${index * span.height}px)`;
          return (
            <div
              key={idOf(row)}
              role="row"
              class="row"
              aria-rowindex={index + 2}
              data-index={index}
              style={{ transform: y }}
            >
              {cells(row)}
            </div>
          );
        })}
      </div>
    </div>
  );
}

function spanOf(body: HTMLElement): Span {
  const height = Number.parseFloat(getComputedStyle(body).getPropertyValue("--row-height")) || 1;
  const { top } = body.getBoundingClientRect();
  const from = Math.max(0, Math.floor(-top / height) - OVERSCAN);
  const to = Math.max(0, Math.ceil((innerHeight - top) / height)) + OVERSCAN;
  return { from, to, height };
}

const isSame = (a: Span, b: Span): boolean => a.from === b.from && a.to === b.to && a.height === b.height;

/** Keeps the visible rows in place while rows above them are added or removed. */
function useScrollAnchor<Row>(
  body: { current: HTMLElement | null },
  rows: readonly Row[],
  idOf: (row: Row) => string,
  { height }: Span,
): void {
  const anchor = useRef({ id: "", index: 0 });
  useLayoutEffect(() => {
    if (!body.current || height === 0) return;
    const { top } = body.current.getBoundingClientRect();
    const { id, index } = anchor.current;
    const isReading = top < -height;
    const here = rows[index] && idOf(rows[index]) === id ? index : rows.findIndex((row) => idOf(row) === id);
    if (isReading && id && here >= 0 && here !== index) scrollBy({ top: (here - index) * height, behavior: "instant" });
    const next = isReading ? Math.ceil(-body.current.getBoundingClientRect().top / height) : 0;
    const row = rows[next];
    anchor.current = { id: row ? idOf(row) : "", index: next };
  });
}

/** Moves the focus between the rows' links with j and k or the arrows, so that Enter opens the row. */
function useKeyboardNavigation(body: { current: HTMLElement | null }, length: number, height: number): void {
  const wanted = useRef<number | null>(null);
  const focusWanted = () => {
    if (wanted.current === null) return;
    const link = body.current?.querySelector<HTMLElement>(`[data-index="${wanted.current}"] :is(a, .fold)`);
    if (!link) return;
    wanted.current = null;
    link.focus({ preventScroll: true });
  };
  useLayoutEffect(focusWanted);
  const last = useRef(-1);
  useEffect(() => {
    const listen = (event: KeyboardEvent) => {
      const step = { j: 1, ArrowDown: 1, k: -1, ArrowUp: -1 }[event.key];
      if (!step || !body.current || length === 0 || event.ctrlKey || event.metaKey || event.altKey) return;
      if (event.defaultPrevented || isTyping(event) || isScrolling(event)) return;
      const focused = document.activeElement?.closest<HTMLElement>("[data-index]");
      const at = focused && body.current.contains(focused) ? Number(focused.dataset.index) : last.current;
      const next = Math.min(length - 1, Math.max(0, at + step));
      event.preventDefault();
      last.current = next;
      wanted.current = next;
      scrollToRow(body.current, next * height, height);
      focusWanted();
    };
    addEventListener("keydown", listen);
    return () => removeEventListener("keydown", listen);
  }, [length, height]);
}

/** Whether the event is an arrow key for a region that scrolls. */
const isScrolling = ({ key, target }: KeyboardEvent): boolean =>
  key.startsWith("Arrow") && target instanceof Element && target.closest("[tabindex='0']") !== null;

/** Scrolls only as far as needed to show a row below the sticky header. */
function scrollToRow(body: HTMLElement, offset: number, height: number): void {
  const { top } = body.getBoundingClientRect();
  const sticky = Number.parseFloat(getComputedStyle(body).getPropertyValue("--sticky-height")) || 0;
  const y = top + offset;
  if (y < sticky) scrollBy({ top: y - sticky, behavior: "instant" });
  else if (y + height > innerHeight) scrollBy({ top: y + height - innerHeight, behavior: "instant" });
}
