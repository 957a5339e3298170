import { styleText } from "node:util";
import stringWidth from "string-width";
import { cleanLine } from "./cleanText.ts";
import { cut, outputWidth } from "./columns.ts";

export type Format = Parameters<typeof styleText>[0];

export interface Column<Row> {
  readonly title: string;
  /** Returns the raw text of the cell. It is made safe here. */
  readonly of: (row: Row) => string | null;
  /** Aligns the column to the right, for numbers. */
  readonly right?: true;
  readonly format?: (row: Row) => Format;
  /** Minimum width to which the column may be truncated on a narrow terminal. See `ENOUGH`. */
  readonly least?: number;
  /**
   * Whether the column is left out if the table does not fit otherwise, the last such column first. For ids, because nobody
   * can copy a truncated one, and for texts that another view shows whole.
   */
  readonly optional?: true;
  /** Returns the text of an empty cell if the first column is left out, so that each row is still identified. */
  readonly instead?: (row: Row) => string;
}

/** Maximum width of a cell that may be truncated, where the output is not a terminal. */
const MAX_PIPED_CELL = 100;

/** Width that a column keeps while a wider one can be truncated. */
const ENOUGH = 24;

interface TableOptions {
  /** Width in columns; by default that of the terminal, or unlimited if the output is not one. */
  readonly width?: number;
  readonly titles?: boolean;
  /** Truncates nothing, whatever the width. */
  readonly wide?: boolean | undefined;
}

const GAP = "  ";

interface Cells<Row> extends Column<Row> {
  readonly texts: readonly string[];
  readonly width: number;
}

/** Returns the lines of a table: the titles, then one line for each row. Columns without any text are left out. */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width: limit = outputWidth(), titles = true, wide = false }: TableOptions = {},
): string[] {
  const width = wide ? Number.POSITIVE_INFINITY : limit;
  const maxCell = wide || Number.isFinite(width) ? Number.POSITIVE_INFINITY : MAX_PIPED_CELL;
  const cellsOf = (column: Column<Row>, text: (row: Row) => string | null = column.of): Cells<Row> => {
    const texts = rows.map((row) => cleanLine(text(row) ?? ""));
    const widest = Math.max(...[titles ? column.title : "", ...texts].map((text) => stringWidth(text)));
    return { ...column, texts, width: column.least === undefined ? widest : Math.min(widest, maxCell) };
  };
  const isFilled = ({ texts }: Cells<Row>) => texts.some((text) => text !== "");
  const narrowest = (cells: readonly Cells<Row>[]) =>
    totalWidth(cells.map(({ least, width }) => Math.min(width, least ?? width)));
  const all = columns.map((column) => cellsOf(column));
  let cells = all.filter(isFilled);
  const leftOut = new Set<Column<Row>>();
  for (const cell of cells.filter(({ optional }) => optional).reverse())
    if (narrowest(cells.filter((one) => !leftOut.has(one))) > width) leftOut.add(cell);
  const [ids] = all;
  cells = cells.filter((cell) => !leftOut.has(cell));
  if (ids && leftOut.has(ids)) {
    const filled = ({ of, instead, ...cell }: Cells<Row>) =>
      instead ? cellsOf({ ...cell, of }, (row) => of(row) || instead(row)) : { ...cell, of };
    cells = all
      .filter((cell) => !leftOut.has(cell))
      .map(filled)
      .filter(isFilled);
  }
  const widths = cells.map(({ width }) => width);
  // The widest column gives way first, so that a long name leaves room for the messages; below ENOUGH the last one does.
  for (let over = totalWidth(widths) - width; over > 0; over--) {
    const spare = widths.map((width, i) => (width > (cells[i]?.least ?? Number.POSITIVE_INFINITY) ? width : 0));
    const widest = Math.max(...spare);
    if (widest === 0) break;
    const at = spare.findLastIndex((width) => (widest > ENOUGH ? width === widest : width > 0));
    widths[at] = (widths[at] ?? 0) - 1;
  }
  const line = (at: number, formatOf: (cell: Column<Row>) => Format | undefined) =>
    cells
      .map((cell, i) => {
        const width = widths[i] ?? 0;
        const shown = cut((at < 0 ? cell.title : cell.texts[at]) ?? "", width);
        const space = " ".repeat(width - stringWidth(shown));
        const format = formatOf(cell);
        const text = format ? styleText(format, shown) : shown;
        if (cell.right) return space + text;
        return i === cells.length - 1 ? text : text + space;
      })
      .join(GAP)
      .trimEnd();
  const heading = titles ? [line(-1, () => "bold")] : [];
  return [...heading, ...rows.map((row, at) => line(at, ({ format }) => format?.(row)))];
}

const totalWidth = (widths: readonly number[]): number =>
  widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length);
