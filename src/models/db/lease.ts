import { type mongo, Schema } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { isDuplicateKey, mapMongoErrors } from "./mongoErrors.ts";
import { retryOnce } from "./retry.ts";

/** A lease as a record stores it: the exclusive right of one worker to work on the record, until it expires. */
export interface StoredLease {
  readonly token: string;
  readonly until: Date;
}

/** The lease on a task that only one process at a time carries out, such as the sweep. */
export interface LeaseDoc {
  _id: string;
  holder: string;
  until: Date;
}

export const leaseSchema = new Schema<LeaseDoc>({ _id: String, holder: String, until: Date }, { versionKey: false });

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
