import type { mongo } from "mongoose";
import { guard } from "./guard.ts";

/** The page ends with the row that passes so many bytes. */
export const PAGE_BYTES = 8 * 1024 * 1024;

interface PageSize<T> {
  /** Most rows; any number when absent. */
  readonly limit?: number;
  /** `PAGE_BYTES` when absent. */
  readonly bytes?: number;
  bytesOf(row: T): number;
}

/** Reads rows until the page is full. `last` is its last row when more follow, for the cursor. @throws AppError unavailable */
export async function takePage<T>(
  found: mongo.FindCursor<T>,
  { limit = Number.POSITIVE_INFINITY, bytes = PAGE_BYTES, bytesOf }: PageSize<T>,
): Promise<{ rows: T[]; last: T | null }> {
  const rows: T[] = [];
  let taken = 0;
  let more = false;
  await guard(async () => {
    for await (const row of Number.isFinite(limit) ? found.limit(limit + 1) : found) {
      more = rows.length === limit || taken > bytes;
      if (more) break;
      rows.push(row);
      taken += bytesOf(row);
    }
  });
  return { rows, last: (more && rows.at(-1)) || null };
}
