import { mongo } from "mongoose";
import { guard, isDuplicateKey, onceMore, writeFaults } from "./guard.ts";
import { readAll } from "./readAll.ts";

/** A document to be changed, with what is to be set of it; or one to be made. */
export type Write<T> =
  | {
      readonly was: Pick<T, keyof T & ("_id" | "rev")>;
      readonly set: Partial<T>;
      /** Expressions of MongoDB over the document as it is then. */
      readonly computed?: Readonly<Record<string, object>>;
    }
  | { readonly insert: T };

/**
 * Changes documents where they are still as they were read, and inserts those that are not there. Each gets `rev`, a new one.
 * They are found by their _id alone and compared by the change itself: MongoDB needs half as long as it does to look for
 * both. That they go as `updateMany` is told at `updateByIds`.
 * @returns which of the writes, by their places, came to nothing: somebody else has changed, deleted or made that document
 * @throws AppError unavailable, body_too_large
 */
export function writeUnchanged<T extends { _id: mongo.ObjectId; rev: mongo.ObjectId | null }>(
  collection: mongo.Collection<T>,
  writes: readonly Write<T>[],
  rev: mongo.ObjectId = new mongo.ObjectId(),
): Promise<Set<number>> {
  if (writes.length === 0) return Promise.resolve(new Set());
  const ids = writes.map((write) => ("was" in write ? write.was._id : write.insert._id));
  const operations = writes.map((write): mongo.AnyBulkWriteOperation<T> => {
    if ("insert" in write) return { insertOne: { document: { ...write.insert, rev } as never } };
    const { was, set, computed } = write;
    const isUnchanged = { $eq: was.rev ? ["$rev", was.rev] : [{ $ifNull: ["$rev", null] }, null] };
    const literal = { $literal: { ...set, rev } };
    const after = { $mergeObjects: ["$$ROOT", literal, ...(computed ? [computed] : [])] };
    const filter = { _id: was._id } as mongo.Filter<T>;
    return { updateMany: { filter, update: [{ $replaceWith: { $cond: [isUnchanged, after, "$$ROOT"] } }] } };
  });
  const write = () =>
    collection.bulkWrite(operations, { ordered: false }).catch((error: unknown) => {
      if (!writeFaults(error, isDuplicateKey)) throw error;
      return { modifiedCount: 0, insertedCount: 0 };
    });
  return guard(async () => {
    const done = await onceMore(write);
    if (done.modifiedCount + done.insertedCount === writes.length) return new Set<number>();
    const written = { _id: { $in: ids }, rev } as unknown as mongo.Filter<T>;
    const found = await readAll(collection, written, { projection: { _id: 1 } });
    const ours = new Set(found.map(({ _id }) => (_id as mongo.ObjectId).toHexString()));
    return new Set(ids.flatMap((id, i) => (ours.has(id.toHexString()) ? [] : [i])));
  });
}
