import { mongo } from "mongoose";
import { AppError } from "../shared/errors.ts";

/** BSONObjectTooLarge, and an update whose result would be. */
const TOO_LARGE = new Set([10334, 17280, 17419]);

/**
 * The server is stopping, stepping down, not yet primary, or short of members: it passes by itself.
 * Source: "retryable" errors of the MongoDB retryable reads and writes specifications, and WriteConcernTimeout (64).
 */
const PASSING = new Set([6, 7, 50, 64, 89, 91, 134, 189, 262, 9001, 10107, 11600, 11601, 11602, 13435, 13436]);

/**
 * Runs an act on the database and names what can go wrong with it.
 * @throws AppError unavailable, body_too_large; anything else as it was thrown
 */
export async function guard<T>(act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw named(error);
  }
}

function named(thrown: unknown): unknown {
  const error = unwrapped(thrown);
  const isTooLarge =
    error instanceof mongo.MongoServerError
      ? TOO_LARGE.has(Number(error.code))
      : (error as NodeJS.ErrnoException)?.code === "ERR_OUT_OF_RANGE"; // the driver's own buffer is too small for it
  if (isTooLarge) {
    const detail = "The document would pass MongoDB's 16 MiB: send less input, metadata or output.";
    return new AppError("body_too_large", { detail, cause: error });
  }
  if (!isPassing(error)) return error;
  const detail = "MongoDB cannot be reached. Send the same request again.";
  return new AppError("unavailable", { detail, retryAfterSeconds: 2, cause: error });
}

/** The connection broke under an act before the driver had made an error of its own of it. */
const BROKEN = new Set(["ECONNRESET", "ECONNREFUSED", "EPIPE", "ETIMEDOUT"]);

/** What the driver throws of a bulk write that failed as a whole is wrapped. */
const unwrapped = (error: unknown): unknown =>
  error instanceof mongo.MongoBulkWriteError && (error.errorResponse as unknown) instanceof Error
    ? error.errorResponse
    : error;

/** What a server answered counts by its code or label; what the driver says of its connections, sessions and pools passes. */
function isPassing(error: unknown): boolean {
  if (error instanceof mongo.MongoServerError) {
    return PASSING.has(Number(error.code)) || error.hasErrorLabel("RetryableWriteError");
  }
  if (error instanceof mongo.MongoInvalidArgumentError) return false;
  return error instanceof mongo.MongoError || BROKEN.has((error as NodeJS.ErrnoException)?.code ?? "");
}

const UPSERT_TRIES = 5;

/** Runs an upsert again when a concurrent one made the document first; the second run then finds it. */
export async function retryUpsert<T>(upsert: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await upsert();
    } catch (error) {
      if (!isDuplicateKey(error) || tries === UPSERT_TRIES) throw error;
    }
  }
}

/** Whether a write failed because another one made the same key first. */
export const isDuplicateKey = (error: unknown): boolean => (error as { code?: unknown } | null)?.code === 11000;

/**
 * Writes to a document when it is free, and makes it when it is not there.
 * @param query names the document by its _id and says when it is free
 * @returns false when it is there and not free
 * @throws AppError unavailable
 */
export async function takeIfFree<T extends mongo.Document>(
  collection: mongo.Collection<T>,
  query: mongo.Filter<T>,
  change: mongo.UpdateFilter<T>,
): Promise<boolean> {
  try {
    await guard(() => collection.updateOne(query, change, { upsert: true }));
    return true;
  } catch (error) {
    if (isDuplicateKey(error)) return false; // the upsert tried to make it again
    throw error;
  }
}

/**
 * The places in a bulk write of what failed in it.
 * @returns undefined where anything failed otherwise than so
 */
export function writeFaults(error: unknown, isSo: (fault: { code?: unknown }) => boolean): number[] | undefined {
  const faults = error instanceof mongo.MongoBulkWriteError ? [error.writeErrors].flat() : [];
  return faults.length > 0 && faults.every(isSo) ? faults.map(({ index }) => index) : undefined;
}

/** A document to be changed, with what is to be set of it; or one to be made. */
export type Write<T> =
  | { readonly was: Pick<T, keyof T & ("_id" | "rev")>; readonly set: Partial<T> }
  | { readonly insert: T };

/**
 * Changes documents where they are still as they were read, and inserts those that are not there. Each gets a new `rev`.
 * They are found by their _id alone and compared by the change itself: MongoDB needs half as long as it does to look for
 * both.
 * @returns which of the writes, by their places, came to nothing: somebody else has changed, deleted or made that document
 * @throws AppError unavailable, body_too_large
 */
export function writeUnchanged<T extends { _id: mongo.ObjectId; rev: mongo.ObjectId | null }>(
  collection: mongo.Collection<T>,
  writes: readonly Write<T>[],
): Promise<Set<number>> {
  if (writes.length === 0) return Promise.resolve(new Set());
  const rev = new mongo.ObjectId();
  const ids = writes.map((write) => ("was" in write ? write.was._id : write.insert._id));
  const operations = writes.map((write): mongo.AnyBulkWriteOperation<T> => {
    if ("insert" in write) return { insertOne: { document: { ...write.insert, rev } as never } };
    const isUnchanged = { $eq: [{ $ifNull: ["$rev", null] }, write.was.rev ?? null] };
    const after = { $mergeObjects: ["$$ROOT", { $literal: { ...write.set, rev } }] };
    const filter = { _id: write.was._id } as mongo.Filter<T>;
    return { updateOne: { filter, update: [{ $replaceWith: { $cond: [isUnchanged, after, "$$ROOT"] } }] } };
  });
  return guard(async () => {
    const done = await collection.bulkWrite(operations, { ordered: false }).catch((error: unknown) => {
      if (!writeFaults(error, isDuplicateKey)) throw error;
      return { modifiedCount: 0, insertedCount: 0 };
    });
    if (done.modifiedCount + done.insertedCount === writes.length) return new Set<number>();
    const written = { _id: { $in: ids }, rev } as unknown as mongo.Filter<T>;
    const found = await collection.find(written, { projection: { _id: 1 } }).toArray();
    const ours = new Set(found.map(({ _id }) => (_id as mongo.ObjectId).toHexString()));
    return new Set(ids.flatMap((id, i) => (ours.has(id.toHexString()) ? [] : [i])));
  });
}
