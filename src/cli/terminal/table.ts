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
}

const GAP = "  ";

/** Returns the lines of a table: the titles, then one line for each row. Columns without any text are left out. */
export function tableLines<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  { width = outputWidth(), titles = true } = {},
): string[] {
  const cells = columns
    .map((column) => ({ ...column, texts: rows.map((row) => cleanLine(column.of(row) ?? "")) }))
    .filter(({ texts }) => texts.some((text) => text !== ""));
  const widths = cells.map(({ title, texts }) =>
    Math.max(...[titles ? title : "", ...texts].map((text) => stringWidth(text))),
  );
  let over = widths.reduce((sum, one) => sum + one + GAP.length, -GAP.length) - width;
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
