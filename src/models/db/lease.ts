import type { mongo } from "mongoose";
import Type, { type Static } from "typebox";
import type { Clock } from "../../shared/clock.ts";
import { BsonDate, closedObject, defineCollection } from "./collection.ts";
import { isDuplicateKey, mapMongoErrors } from "./mongoErrors.ts";
import { retryOnce } from "./retry.ts";

/** A lease as a record stores it: the exclusive right of one worker to work on the record, until it expires. */
export const StoredLease = closedObject({
  token: Type.String(),
  until: BsonDate,
});
export type StoredLease = Static<typeof StoredLease>;

/** The lease on a task that only one process at a time carries out, such as the sweep. */
export const LeaseDoc = closedObject({
  _id: Type.String(),
  holder: Type.String(),
  until: BsonDate,
});
export type LeaseDoc = Static<typeof LeaseDoc>;

export const leaseCollection = defineCollection(LeaseDoc);

export class Leases {
  readonly collection: mongo.Collection<LeaseDoc>;
  readonly #clock: Clock;

  constructor(collection: mongo.Collection<LeaseDoc>, clock: Clock) {
    this.collection = collection;
    this.#clock = clock;
  }

  /**
   * Acquires the lease on a task, or renews it for its holder.
   * @returns false while another process holds it
   * @throws AppError unavailable
   */
  acquire(name: string, holder: string, forMs: number): Promise<boolean> {
    const now = this.#clock.now();
    const change = { $set: { holder, until: new Date(now.getTime() + forMs) } };
    const query = { _id: name, $or: [{ holder }, { until: { $lte: now } }] };
    return acquireIfFree(this.collection, query, change);
  }
}

/**
 * Updates a document if its lease is free, or creates the document.
 * @param query names the document by its `_id`, and matches it only while the lease is free or the caller's own
 * @returns false if the document exists and another holds its lease
 * @throws AppError unavailable
 */
export async function acquireIfFree<T extends mongo.Document>(
  collection: mongo.Collection<T>,
  query: mongo.Filter<T>,
  change: mongo.UpdateFilter<T>,
): Promise<boolean> {
  try {
    await mapMongoErrors(() => retryOnce(() => collection.updateOne(query, change, { upsert: true })));
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error; // The upsert found no match and tried to create the document again.
    return false;
  }
}
