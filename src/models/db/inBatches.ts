import type { mongo } from "mongoose";

/** Reads the documents of a cursor in batches, and closes it. @param size the maximum documents of a batch */
export async function* inBatches<D>(cursor: mongo.FindCursor<D>, size: number): AsyncGenerator<D[], void> {
  try {
    let batch: D[] = [];
    for await (const document of cursor.batchSize(size)) {
      batch.push(document);
      if (batch.length < size) continue;
      yield batch;
      batch = [];
    }
    if (batch.length > 0) yield batch;
  } finally {
    await cursor.close();
  }
}
