import { styleText } from "node:util";
import { cleanJson } from "../terminal/cleanText.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { print } from "../terminal/words.ts";

/** The largest page that the service gives. */
const PAGE = 1_000;

export interface ListOptions {
  /** Most rows. */
  readonly limit: number;
  /** Every row, whatever the limit. */
  readonly all?: boolean | undefined;
  /** JSON, one line for each row, in place of a table. */
  readonly json?: boolean | undefined;
}

interface Page<Row> {
  readonly rows: readonly Row[];
  readonly nextCursor: string | null;
}

/**
 * Prints a list as its pages come, or as one table.
 * @param nothing what is said where it is empty
 */
export async function printList<Row>(
  { limit, all = false, json = false }: ListOptions,
  read: (page: { limit: number; cursor?: string }) => Promise<Page<Row>>,
  columns: readonly Column<Row>[],
  nothing: string,
): Promise<void> {
  let left = all ? Number.POSITIVE_INFINITY : limit;
  let cursor: string | null = null;
  const rows: Row[] = [];
  do {
    const page: Page<Row> = await read({ limit: Math.min(left, PAGE), ...(cursor !== null && { cursor }) });
    if (json) print(page.rows.map((row) => cleanJson(row)));
    else rows.push(...page.rows);
    left -= page.rows.length; // a page may be shorter than what was asked for
    cursor = page.nextCursor;
  } while (cursor !== null && left > 0);
  if (json) return;
  if (rows.length === 0) return printNote(nothing);
  print(tableLines(rows, columns));
  if (cursor !== null) printNote(`There are more: --limit or --all shows them.`);
}

/** What is said where a watch goes on without a service. */
export const SERVICE_LOST = "Nothing is heard from the service; trying again …";

/** What is said beside the output, and never read as a part of it. */
export function printNote(text: string): void {
  process.stderr.write(`${styleText("dim", text, { stream: process.stderr })}\n`);
}
