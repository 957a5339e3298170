import { styleText } from "node:util";
import type { Client } from "../../client/client.ts";
import { withService } from "../service.ts";
import type { ServiceOptions } from "../serviceAccess.ts";
import { cleanJson } from "../terminal/cleanText.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { print } from "../terminal/words.ts";

/** Maximum page size of the service. */
const PAGE = 1_000;

export interface ListOptions {
  /** Maximum number of rows. */
  readonly limit: number;
  /** Whether to print every row, whatever the limit. */
  readonly all?: boolean | undefined;
  /** Whether to print JSON, one line for each row, instead of a table. */
  readonly json?: boolean | undefined;
  /** Whether to print every cell of the table in full. */
  readonly wide?: boolean | undefined;
}

interface List<Row, Page> {
  readonly read: (client: Client, page: { limit: number; cursor?: string }) => Promise<Page>;
  readonly rowsOf: (page: Page) => readonly Row[];
  readonly columns: readonly Column<Row>[];
  /** The note for an empty list. */
  readonly nothing: string;
}

/** Reads a list from the service and prints it: as JSON page by page, or as one table. */
export const printList = <Row, Page extends { readonly nextCursor: string | null }>(
  env: NodeJS.ProcessEnv,
  options: ServiceOptions & ListOptions,
  list: List<Row, Page>,
): Promise<void> => withService(env, options, ({ client }) => printRows(client, options, list));

async function printRows<Row, Page extends { readonly nextCursor: string | null }>(
  client: Client,
  { limit, all = false, json = false, wide }: ListOptions,
  { read, rowsOf, columns, nothing }: List<Row, Page>,
): Promise<void> {
  let left = all ? Number.POSITIVE_INFINITY : limit;
  let cursor: string | null = null;
  const rows: Row[] = [];
  do {
    const page: Page = await read(client, { limit: Math.min(left, PAGE), ...(cursor !== null && { cursor }) });
    const added = rowsOf(page);
    if (json) print(added.map((row) => cleanJson(row)));
    else rows.push(...added);
    left -= added.length; // a page may be shorter than its limit
    cursor = page.nextCursor;
  } while (cursor !== null && left > 0);
  if (json) return;
  if (rows.length === 0) return printNote(nothing);
  print(tableLines(rows, columns, { wide }));
  if (cursor !== null) printNote("There are more rows: print them with --limit or --all.");
}

/** The note while a watch continues without a connection to the service. */
export const SERVICE_LOST = "The connection to the service is lost; trying again …";
export const SERVICE_BACK = "The connection to the service is back.";

/** Prints a note for people to standard error, so that it is not part of the output. */
export function printNote(text: string): void {
  process.stderr.write(`${styleText("dim", text, { stream: process.stderr })}\n`);
}
