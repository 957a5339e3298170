import type { mongo } from "mongoose";
import pLimit, { type LimitFunction } from "p-limit";
import { AppError } from "../../shared/errors.ts";
import type { Documents } from "./documents.ts";

/** A page ends with the row that exceeds this number of bytes. */
export const PAGE_BYTES = 8 * 1024 * 1024;

interface PageSize<T> {
  /** Maximum rows (default unlimited). */
  readonly limit?: number;
  /** The page ends with the row that exceeds this number of bytes (default `PAGE_BYTES`). */
  readonly bytes?: number;
  bytesOf(row: T): number;
}

interface Query<T> {
  readonly filter: mongo.Filter<T>;
  readonly projection?: mongo.Document;
  readonly sort: mongo.Sort;
}

interface Page<T> {
  readonly rows: T[];
  /** The last row if more rows follow, otherwise null. Forms the cursor of the next page. */
  readonly last: T | null;
}

/** Maximum pages read at a time from one database: a page can be megabytes, and occupies a connection of the pool. */
const MAX_CONCURRENT_PAGES = 16;

const limiters = new WeakMap<mongo.Db, LimitFunction>();

function limiterOf(db: mongo.Db): LimitFunction {
  const limiter = limiters.get(db) ?? pLimit({ concurrency: MAX_CONCURRENT_PAGES, rejectOnClear: true });
  limiters.set(db, limiter);
  return limiter;
}

/**
 * Reads a page of rows. If MongoDB is unavailable for one page, all pages that wait for their turn fail too: otherwise each would
 * wait for MongoDB in turn.
 */
export async function readPage<T extends mongo.Document>(
  documents: Documents<T>,
  query: Query<T>,
  size: PageSize<T>,
): Promise<Page<T>> {
  const limit = limiterOf(documents.native.db);
  let hasStarted = false;
  const read = async () => {
    hasStarted = true;
    try {
      return await documents.read(() => collectRows(documents, query, size));
    } catch (error) {
      if (error instanceof AppError && error.code === "unavailable") limit.clearQueue();
      throw error;
    }
  };
  try {
    return await limit(read);
  } catch (error) {
    throw hasStarted ? error : new AppError("unavailable", { detail: UNAVAILABLE, retryAfterSeconds: 2 });
  }
}

const UNAVAILABLE = "MongoDB cannot be reached. Send the same request again.";

async function collectRows<T extends mongo.Document>(
  documents: Documents<T>,
  { filter, ...options }: Query<T>,
  { limit = Number.POSITIVE_INFINITY, bytes = PAGE_BYTES, bytesOf }: PageSize<T>,
): Promise<Page<T>> {
  const rows: T[] = [];
  let taken = 0;
  let more = false;
  const bounded = Number.isFinite(limit) ? { ...options, limit: limit + 1 } : options;
  for await (const row of documents.stream<T>(filter, bounded)) {
    more = rows.length === limit || taken > bytes;
    if (more) break;
    rows.push(row);
    taken += bytesOf(row);
  }
  return { rows, last: (more && rows.at(-1)) || null };
}
