import { mongo } from "mongoose";
import { Batcher } from "../../shared/batcher.ts";
import type { Documents } from "./documents.ts";
import { isDuplicateKey } from "./mongoErrors.ts";

/**
 * Inserts the documents of concurrent calls together. Documents whose key exists already stay unchanged.
 */
export class BatchInserter<T extends mongo.Document> {
  readonly #batcher: Batcher<readonly mongo.OptionalUnlessRequiredId<T>[], number>;

  /** @param weightOf returns the approximate size of a document in characters */
  constructor(collection: Documents<T>, weightOf: (document: mongo.OptionalUnlessRequiredId<T>) => number) {
    this.#batcher = new Batcher((sets) => insertAll(collection, sets), {
      maxBatchSize: 500,
      maxBatchWeight: 8 * 1024 * 1024,
      weightOf: (documents) => documents.reduce((sum, document) => sum + weightOf(document), 0),
    });
  }

  /** Inserts documents. @returns the number of new ones @throws AppError unavailable, body_too_large */
  add(documents: readonly NoInfer<mongo.OptionalUnlessRequiredId<T>>[]): Promise<number> {
    return documents.length > 0 ? this.#batcher.add(documents) : Promise.resolve(0);
  }
}

/** Inserts sets of documents with one command. @returns the number of new documents of each set */
export async function insertAll<T extends mongo.Document>(
  collection: Documents<T>,
  sets: readonly (readonly mongo.OptionalUnlessRequiredId<T>[])[],
): Promise<number[]> {
  const counts = sets.map(({ length }) => length);
  const owners = sets.flatMap((documents, i) => documents.map(() => i));
  const all = sets.flat();
  try {
    if (all.length === 1) await collection.insertOne(all[0] as mongo.OptionalUnlessRequiredId<T>);
    else await collection.insertMany(all, { ordered: false });
  } catch (error) {
    const duplicates = all.length === 1 && isDuplicateKey(error) ? [0] : duplicateIndexes(error);
    if (!duplicates) throw error;
    for (const index of duplicates) counts[owners[index] as number]!--;
  }
  return counts;
}

/** Returns the indexes of the documents that exist already, or undefined if the insert failed for any other reason. */
function duplicateIndexes(error: unknown): number[] | undefined {
  const faults = error instanceof mongo.MongoBulkWriteError ? [error.writeErrors].flat() : [];
  return faults.length > 0 && faults.every(isDuplicateKey) ? faults.map(({ index }) => index) : undefined;
}
