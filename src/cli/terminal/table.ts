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
  /** Minimum width to which the column may be truncated on a narrow terminal. The last such column is truncated first. */
  readonly least?: number;
  /**
   * Whether the column is dispensable for a row. If it is for all rows, and the table does not fit otherwise, the column is
   * left out, the last such column first. For ids, because nobody can copy a truncated one.
   */
  readonly optional?: (row: Row) => boolean;
}

/** Maximum width of a cell that may be truncated, where the output is not a terminal. */
const MAX_PIPED_CELL = 100;

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
  const all = columns
    .map((column): Cells<Row> => {
      const texts = rows.map((row) => cleanLine(column.of(row) ?? ""));
      const widest = Math.max(...[titles ? column.title : "", ...texts].map((text) => stringWidth(text)));
      return { ...column, texts, width: column.least === undefined ? widest : Math.min(widest, maxCell) };
    })
    .filter(({ texts }) => texts.some((text) => text !== ""));
  const narrowest = (cells: readonly Cells<Row>[]) =>
    totalWidth(cells.map(({ least, width }) => Math.min(width, least ?? width)));
  const cells = [...all];
  for (const cell of all.filter(({ optional }) => optional && rows.every(optional)).reverse())
    if (narrowest(cells) > width) cells.splice(cells.indexOf(cell), 1);
  const widths = cells.map(({ width }) => width);
  let over = totalWidth(widths) - width;
  for (const [i, { least = Number.POSITIVE_INFINITY }] of [...cells.entries()].reverse()) {
    const taken = Math.max(0, Math.min(over, (widths[i] ?? 0) - least));
    widths[i] = (widths[i] ?? 0) - taken;
    over -= taken;
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
