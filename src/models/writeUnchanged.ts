import { mongo } from "mongoose";
import { guard, onceMore } from "./guard.ts";
import { insertAll } from "./inserting.ts";
import { readAll } from "./readAll.ts";

interface Change<T> {
  readonly was: Pick<T, keyof T & ("_id" | "rev")>;
  readonly set: Partial<T>;
  /** What the expressions of these fields are given. */
  readonly given?: Readonly<Record<string, unknown>>;
}

/** A document to be changed, with what is to be set of it; or one to be made. */
export type Write<T> = Change<T> | { readonly insert: T };

/**
 * Of fields that are computed from what the document has by then and what is given for it: MongoDB's expressions, of the path
 * at which that stands. Where nothing stands there they are to leave the field as it is.
 */
export type Computing = Readonly<Record<string, (given: string) => object>>;

/**
 * Changes documents where they are still as they were read, and inserts those that are not there. Each gets `rev`, a new one.
 *
 * All changes are one update of MongoDB's, which holds what becomes of each document beside the `_id` and `rev` it had: in a
 * batch of 43 that takes MongoDB two thirds of the time that an update for each of them takes. They are found by their `_id`
 * alone and compared by the change itself, which is half of what it takes to look for both. That they go as `updateMany` is told at
 * `updateByIds`.
 * @param writes together less than the 16 MiB of one document of MongoDB's; each document once
 * @returns which of the writes, by their places, came to nothing: somebody else has changed, deleted or made that document
 * @throws AppError unavailable, body_too_large
 */
export function writeUnchanged<T extends { _id: mongo.ObjectId; rev: mongo.ObjectId | null }>(
  collection: mongo.Collection<T>,
  writes: readonly Write<T>[],
  { rev = new mongo.ObjectId(), computing = {} }: { rev?: mongo.ObjectId; computing?: Computing } = {},
): Promise<Set<number>> {
  if (writes.length === 0) return Promise.resolve(new Set());
  const changes = writes.flatMap((write) => ("was" in write ? [write] : []));
  const inserts = writes.flatMap((write) => ("was" in write ? [] : [[{ ...write.insert, rev }]]));
  const write = async () => {
    const inserted = inserts.length > 0 ? await insertAll(collection, inserts as never) : [];
    const changed = changes.length > 0 ? await changeAll(collection, changes, rev, computing) : 0;
    return inserted.reduce((sum, one) => sum + one, changed);
  };
  return guard(async () => {
    if ((await onceMore(write)) === writes.length) return new Set<number>();
    const ids = writes.map((write) => ("was" in write ? write.was._id : write.insert._id));
    const written = { _id: { $in: ids }, rev } as unknown as mongo.Filter<T>;
    const found = await readAll(collection, written, { projection: { _id: 1 } });
    const ours = new Set(found.map(({ _id }) => (_id as mongo.ObjectId).toHexString()));
    return new Set(ids.flatMap((id, i) => (ours.has(id.toHexString()) ? [] : [i])));
  });
}

/** @returns how many were changed */
async function changeAll<T extends { _id: mongo.ObjectId; rev: mongo.ObjectId | null }>(
  collection: mongo.Collection<T>,
  changes: readonly Change<T>[],
  rev: mongo.ObjectId,
  computing: Computing,
): Promise<number> {
  const own = { _id: "$_id", rev: { $ifNull: ["$rev", null] } };
  // where the list is constant, MongoDB looks a place up in it by a hash
  const place = {
    $indexOfArray: [{ $literal: changes.map(({ was }) => ({ _id: was._id, rev: was.rev ?? null })) }, own],
  };
  const change = { $arrayElemAt: [{ $literal: changes.map(({ set, given }) => ({ set, given })) }, "$$place"] };
  const isGiven = (field: string) => changes.some(({ given }) => given && field in given);
  const computed = Object.entries(computing).flatMap(([field, by]) =>
    isGiven(field) ? [[field, by(`$$change.given.${field}`)] as const] : [],
  );
  const after = { $mergeObjects: ["$$ROOT", "$$change.set", { ...Object.fromEntries(computed), rev }] };
  const changed = { $let: { vars: { change }, in: after } };
  const update = {
    $replaceWith: { $let: { vars: { place }, in: { $cond: [{ $lt: ["$$place", 0] }, "$$ROOT", changed] } } },
  };
  const ids = changes.map(({ was }) => was._id);
  const [filter, options] =
    ids.length > 1 ? [{ _id: { $in: ids } }, { hint: { _id: 1 } as const }] : [{ _id: ids[0] }, {}];
  const { modifiedCount } = await collection.updateMany(filter as mongo.Filter<T>, [update], options);
  return modifiedCount;
}
