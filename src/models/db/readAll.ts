import type { mongo } from "mongoose";
import { readFromCaughtUpPrimary } from "./caughtUpPrimary.ts";

type ReadOptions = Pick<mongo.FindOptions, "projection" | "sort" | "limit" | "hint">;

/**
 * Reads all documents that match a query. Only for queries whose result fits into memory.
 * @throws AppError unavailable
 */
export function readAll<T extends mongo.Document, Read extends mongo.Document = mongo.WithId<T>>(
  collection: mongo.Collection<T>,
  filter: mongo.Filter<T>,
  options: ReadOptions = {},
): Promise<Read[]> {
  return readFromCaughtUpPrimary(collection, () => collection.find<Read>(filter, options).toArray());
}
