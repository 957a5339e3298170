import type { mongo } from "mongoose";
import type { Documents } from "./documents.ts";

/** Maximum documents that one count reads. No index has the counts of a combination of filters. */
export const MAX_COUNTED = 10_000;

/** Returns the stages that count the matching documents by the value of a field; one more than `MAX_COUNTED` of them at most. */
export const countStages = (match: mongo.Document, field: string): mongo.Document[] => [
  { $match: match },
  { $limit: MAX_COUNTED + 1 },
  { $group: { _id: `$${field}`, count: { $sum: 1 } } },
];

/**
 * Counts the matching documents by the value of a field, in one read.
 * @returns the counts; together they exceed `MAX_COUNTED` if more documents match
 */
export async function countBy<Doc extends mongo.Document, Key extends string>(
  collection: Documents<Doc>,
  match: mongo.Document,
  field: string,
): Promise<ReadonlyMap<Key, number>> {
  const groups = await collection.aggregate<{ _id: Key; count: number }>(countStages(match, field));
  return new Map(groups.map(({ _id, count }) => [_id, count]));
}
