/**
 * The words of a page stand in the page itself. These functions replace the parts that come from code. A place is a text of the page,
 * such as a heading; its table is the first one after it.
 */

/** Replaces the rows of the table at a place. */
export function withRows(page: string, place: string, rows: readonly string[]): string {
  const { start, end } = tableAt(page, place);
  return `${page.slice(0, start)}${rows.map((row) => `${row}\n`).join("")}${page.slice(end)}`;
}

/** Returns the cells of the rows of the table at a place. */
export function cellsAt(page: string, place: string): string[][] {
  const { start, end } = tableAt(page, place);
  const rows = page.slice(start, end).trimEnd().split("\n");
  return rows.map((row) =>
    row
      .slice(1, -1)
      .split(" | ")
      .map((cell) => cell.trim()),
  );
}

/** Returns the names in the first cells of the table at a place. A cell may have several. */
export function namesAt(page: string, place: string): string[] {
  return cellsAt(page, place).flatMap(([first = ""]) => [...first.matchAll(/`([^`]+)`/g)].map(([, name]) => name!));
}

/** Returns the page with everything after a place replaced. */
export function withRest(page: string, place: string, rest: string): string {
  return `${page.slice(0, indexOf(page, place) + place.length)}${rest}`;
}

/** @throws Error that names the differences between the rows of a page and the names in the code */
export function requireSame(table: string, named: readonly string[], wanted: readonly string[]): void {
  const missing = wanted.filter((name) => !named.includes(name));
  const unknown = named.filter((name) => !wanted.includes(name));
  if (missing.length > 0) throw new Error(`${table} lacks ${missing.join(", ")}: add a row to the page.`);
  if (unknown.length > 0)
    throw new Error(`${table} has ${unknown.join(", ")}, which no longer exist: remove the rows.`);
}

/** Returns where the rows of the table at a place start and end. */
function tableAt(page: string, place: string): { start: number; end: number } {
  const heading = /\n\|(?:---\|)+\n/g;
  heading.lastIndex = indexOf(page, place);
  if (!heading.test(page)) throw new Error(`The page has no table after "${place}".`);
  const start = heading.lastIndex;
  const [rows = ""] = /^(?:\|.*\n)*/.exec(page.slice(start)) ?? [];
  return { start, end: start + rows.length };
}

/** @throws Error if the page does not have the text */
function indexOf(page: string, place: string): number {
  const index = page.indexOf(place);
  if (index === -1) throw new Error(`The page lacks the text "${place}", after which a part is generated.`);
  return index;
}
