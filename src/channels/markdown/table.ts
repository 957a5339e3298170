import stringWidth from "string-width";
import type { Inline } from "./inline.ts";

/** Columns are aligned only while the result is at most 3 times the text plus 2,000: one long cell would pad all rows. */
const MAX_PADDING_FACTOR = 3;
const PADDING_ALLOWANCE = 2_000;

/** Returns rows as lines of text with ` | ` between cells, aligned in columns unless that takes too much space. */
export function layOutTable(rows: readonly (readonly Inline[])[]): string {
  const cells = rows.map((row) => row.map(({ text }) => text.replaceAll("\n", " ")));
  const widths: number[] = [];
  let written = 0;
  for (const row of cells) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell));
      written += cell.length + 3;
    }
  }
  const width = widths.reduce((sum, one) => sum + one + 3, 0);
  const isAligned = width * cells.length <= MAX_PADDING_FACTOR * written + PADDING_ALLOWANCE;
  return cells
    .map((row) => row.map((cell, column) => (isAligned ? pad(cell, widths[column] ?? 0) : cell)))
    .map((row) => row.join(" | ").trimEnd())
    .join("\n");
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - stringWidth(cell)));
}
