import type { mongo } from "mongoose";
import type { Documents } from "./documents.ts";
import { idCursor, olderThan } from "./idCursor.ts";
import { readPage } from "./page.ts";

/** The page of a list, and the period in which its records were created. */
export interface NewestQuery {
  readonly from?: Date | undefined;
  readonly before?: Date | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

interface List<D extends mongo.Document> {
  readonly query: mongo.Filter<D>;
  readonly projection?: mongo.Document;
  /** The time by which the list is ordered (default `createdAt`). */
  readonly by?: keyof D & string;
  /** Maximum rows. */
  readonly limit: number;
  /** The cursor of the previous page. */
  readonly cursor: string | undefined;
  bytesOf(row: D): number;
}

interface NewestPage<D> {
  readonly rows: D[];
  /** The cursor of the next page; null if no rows follow. */
  readonly nextCursor: string | null;
}

/** Reads a page of records, the newest first. */
export async function readNewest<D extends mongo.Document & { _id: string }>(
  collection: Documents<D>,
  { query, projection = {}, by = "createdAt", limit, cursor, bytesOf }: List<D>,
): Promise<NewestPage<D>> {
  const wanted = cursor === undefined ? query : { $and: [query, olderThan<D>(cursor, by)] };
  const newest = { filter: wanted as mongo.Filter<D>, projection, sort: { [by]: -1, _id: -1 } as const };
  const { rows, last } = await readPage(collection, newest, { limit, bytesOf });
  return { rows, nextCursor: last && idCursor({ _id: last._id, createdAt: last[by] }) };
}

/** Returns the query for the records created in a period, which is open where a bound is missing. */
export const createdWithin = (from: Date | undefined, before: Date | undefined) =>
  (from ?? before) ? { createdAt: { ...(from && { $gte: from }), ...(before && { $lt: before }) } } : {};
