import type { mongo } from "mongoose";
import { AppError } from "../shared/errors.ts";
import { Together } from "../shared/together.ts";
import { reading } from "./newPrimary.ts";

/** The page ends with the row that passes so many bytes. */
export const PAGE_BYTES = 8 * 1024 * 1024;

interface PageSize<T> {
  /** Most rows; any number when absent. */
  readonly limit?: number;
  /** `PAGE_BYTES` when absent. */
  readonly bytes?: number;
  bytesOf(row: T): number;
}

interface Page<T> {
  readonly rows: T[];
  readonly last: T | null;
}

/**
 * So many pages are read at a time: each may be megabytes, and keeps a connection of the pool as long as it takes. More of
 * them wait for their turn, so that all else finds a connection.
 */
const turns = new Together<() => Promise<unknown>, unknown>(async ([read]) => [await read?.()], {
  ...{ most: 1, mostWeight: 1, weightOf: () => 1 },
  atOnce: 16,
});
let failure: { readonly error: AppError } | undefined;

/**
 * Reads rows until the page is full. `last` is its last row when more follow, for the cursor. While MongoDB is away a page that
 * waits for its turn fails with the one that finds out.
 * @param find makes the cursor; one that is made and not read to its end or closed stays in the client's memory
 * @throws AppError unavailable
 */
export function takePage<T>(
  collection: Pick<mongo.Collection, "db">,
  find: () => mongo.FindCursor<T>,
  size: PageSize<T>,
): Promise<Page<T>> {
  const before = failure;
  const read = async () => {
    if (failure && failure !== before) throw failure.error;
    try {
      return await reading(collection, () => readPage(find(), size));
    } catch (error) {
      if (error instanceof AppError && error.code === "unavailable") failure = { error };
      throw error;
    }
  };
  return turns.add(read) as Promise<Page<T>>;
}

async function readPage<T>(
  found: mongo.FindCursor<T>,
  { limit = Number.POSITIVE_INFINITY, bytes = PAGE_BYTES, bytesOf }: PageSize<T>,
): Promise<Page<T>> {
  const rows: T[] = [];
  let taken = 0;
  let more = false;
  for await (const row of Number.isFinite(limit) ? found.limit(limit + 1) : found) {
    more = rows.length === limit || taken > bytes;
    if (more) break;
    rows.push(row);
    taken += bytesOf(row);
  }
  return { rows, last: (more && rows.at(-1)) || null };
}
