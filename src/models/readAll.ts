import { mongo } from "mongoose";
import { isPassing, onceMore } from "./guard.ts";
import { reading } from "./newPrimary.ts";

interface ReadOptions {
  readonly projection?: mongo.Document;
  readonly sort?: Readonly<Record<string, 1 | -1>>;
  readonly limit?: number;
  readonly hint?: Readonly<Record<string, 1 | -1>>;
}

/** More than anybody asks for at once; an answer ends before where it would pass 16 MiB. */
const MOST = 10_000;

/**
 * Reads all that a query finds, where that is not much: in one answer, which the driver takes apart once. In a cursor's batch
 * it goes over each document twice, which is 10 µs more of a job. What is too much for one answer is read through a cursor.
 * @throws AppError unavailable
 */
export function readAll<T extends mongo.Document, Read extends mongo.Document = mongo.WithId<T>>(
  collection: mongo.Collection<T>,
  filter: mongo.Filter<T>,
  options: ReadOptions = {},
): Promise<Read[]> {
  return reading(collection, async () => {
    const found = await onceMore(() => inOneAnswer<T, Read>(collection, filter, options), mayBeAskedAgain);
    return found ?? collection.find<Read>(filter, options).toArray();
  });
}

/** As of a cursor, whose driver asks once more. Source: "Retryable Reads" of the MongoDB specifications. */
const mayBeAskedAgain = (error: unknown): boolean =>
  error instanceof mongo.MongoNetworkError || (error instanceof mongo.MongoServerError && isPassing(error));

/** @returns null where it is too much */
async function inOneAnswer<T extends mongo.Document, Read>(
  { db, collectionName, readConcern }: mongo.Collection<T>,
  filter: mongo.Filter<T>,
  options: ReadOptions,
): Promise<Read[] | null> {
  const concern = readConcern && { readConcern: { level: readConcern.level } };
  const { cursor } = await db.command({ find: collectionName, filter, ...options, batchSize: MOST, ...concern });
  if (cursor.id === 0) return cursor.firstBatch;
  await db.command({ killCursors: collectionName, cursors: [cursor.id] });
  return null;
}
