import type { mongo } from "mongoose";
import type { Documents } from "./documents.ts";
import { date, free, nullable, object, optional, type Stored, schemaOf, string } from "./fields.ts";
import { isDuplicateKey } from "./mongoErrors.ts";
import { retryOnce } from "./retry.ts";
import { Store } from "./store.ts";

/** A lease as a record stores it: the exclusive right of one worker to work on the record, until it expires. */
export const StoredLease = object({
  token: string,
  until: date,
});
export type StoredLease = Stored<typeof StoredLease>;

/** Returns whether a stored lease is held, by whichever worker. */
export const isHeld = (lease: StoredLease | null, now: Date): boolean => lease !== null && lease.until > now;

/**
 * The lease on the records of a collection, which a field of each record holds. It is free while the field is null or its time
 * has passed, and otherwise held under a token. Only the holder renews it, releases it, and updates the record by
 * `updateHeld`.
 */
export class RecordLease<D extends mongo.Document> {
  readonly #collection: Documents<D>;
  readonly #field: keyof D & string;
  readonly #heldWhile: mongo.Filter<D>;

  /** @param heldWhile the state in which the records are worked on. Whoever ends it, for example a cancel, ends the lease. */
  constructor(collection: Documents<D>, field: keyof D & string, heldWhile: mongo.Filter<D> = {}) {
    this.#collection = collection;
    this.#field = field;
    this.#heldWhile = heldWhile;
  }

  /** Returns the query for records whose lease is free. */
  free(now: Date): { $or: mongo.Filter<D>[] } {
    return { $or: [{ [this.#field]: null }, { [`${this.#field}.until`]: { $lte: now } }] as mongo.Filter<D>[] };
  }

  /**
   * Acquires the lease on a record, or acquires it again under the same token. Creates the record if it does not exist.
   * @param alsoFree further queries for records whose lease is free
   * @param change what else changes with the lease
   * @returns false while it is held under another token
   */
  acquireOrCreate(
    _id: D["_id"],
    lease: StoredLease,
    { now, change, alsoFree = [] }: { now: Date; change: mongo.UpdateFilter<D>; alsoFree?: mongo.Filter<D>[] },
  ): Promise<boolean> {
    const own = { [`${this.#field}.token`]: lease.token } as mongo.Filter<D>;
    const query = { _id, $or: [...this.free(now).$or, ...alsoFree, own] } as mongo.Filter<D>;
    const acquired = { ...change, $set: { ...change.$set, [this.#field]: lease } } as mongo.UpdateFilter<D>;
    return updateOrCreate(this.#collection, query, acquired);
  }

  /** Extends the lease. @returns false if it is not held under the token */
  renew(_id: D["_id"], { token, until }: StoredLease): Promise<boolean> {
    return this.updateHeld(_id, token, { [`${this.#field}.until`]: until });
  }

  /** Releases the lease, if it is held under the token. */
  async release(_id: D["_id"], token: string): Promise<void> {
    await this.updateHeld(_id, token, { [this.#field]: null });
  }

  /**
   * Updates fields of a record while its lease is held under the token.
   * @param more further operators of the update
   * @returns false, without a change, if it is not
   * @throws AppError unavailable, body_too_large
   */
  async updateHeld(_id: D["_id"], token: string, set: object, more: object = {}): Promise<boolean> {
    const update = { ...more, $set: set } as mongo.UpdateFilter<D>;
    const { matchedCount } = await this.#collection.updateOne(this.heldUnder(_id, token), update);
    return matchedCount === 1;
  }

  /** Returns the query for a record whose lease is held under the token. */
  heldUnder(_id: D["_id"], token: string): mongo.Filter<D> {
    return { ...this.#heldWhile, _id, [`${this.#field}.token`]: token } as mongo.Filter<D>;
  }
}

/**
 * The lease on a task that only one process at a time carries out, such as the sweep. The record is nothing but the lease, and
 * its holder takes the place of the token.
 */
export const LeaseDoc = object({
  _id: string,
  holder: string,
  until: date,
  /** Why its holder cannot carry out the task at present, as a sentence; null or missing if it can. */
  fault: optional(nullable(string)),
  /** How far the task has come with each of its scans of a whole collection; missing without any. */
  scans: optional(free<Record<string, { dueAt: Date; after: unknown }>>()),
});
export type LeaseDoc = Stored<typeof LeaseDoc>;

export const leaseSchema = schemaOf(LeaseDoc);

export class Leases extends Store<LeaseDoc> {
  /**
   * Acquires the lease on a task, or renews it for its holder.
   * @returns false while another process holds it
   */
  acquire(name: string, holder: string, forMs: number): Promise<boolean> {
    const now = this.clock.now();
    const change = { $set: { holder, until: new Date(now.getTime() + forMs) } };
    const query = { _id: name, $or: [{ holder }, { until: { $lte: now } }] };
    return updateOrCreate(this.collection, query, change);
  }

  /** Releases the lease on a task, if the holder has it. */
  async release(name: string, holder: string): Promise<void> {
    const change = { $set: { until: this.clock.now() } };
    await this.collection.updateOne({ _id: name, holder }, change);
  }

  /** Stores why the holder of a lease cannot carry out the task, or null. */
  async setFault(name: string, holder: string, fault: string | null): Promise<void> {
    await this.collection.updateOne({ _id: name, holder }, { $set: { fault } });
  }

  /** Returns why the holder of a lease cannot carry out the task; null if it can, or nobody holds it. */
  async faultOf(name: string): Promise<string | null> {
    const held = await this.collection.findOne({ _id: name, until: { $gt: this.clock.now() } });
    return held?.fault ?? null;
  }

  /**
   * Runs a scan of a task whose lease is held, at most once in a while. A scan that is interrupted goes on where it stopped.
   * @param begin begins the scan, behind a record
   * @yields the number of deleted records after each batch
   * @throws AppError unavailable, and what the scan throws
   */
  async *scan<A>(
    { task, name, everyMs }: { readonly task: string; readonly name: string; readonly everyMs: number },
    begin: (after: A | undefined) => AsyncIterable<ScanBatch<A>>,
  ): AsyncGenerator<number, void> {
    const now = this.clock.now();
    const stored = await this.collection.findOne({ _id: task });
    const { dueAt = now, after = null } = stored?.scans?.[name] ?? {};
    if (after === null && dueAt > now) return;
    const keep = (state: { dueAt: Date; after: A | null }) =>
      this.collection.updateOne({ _id: task }, { $set: { [`scans.${name}`]: state } });
    for await (const batch of begin((after as A | null) ?? undefined)) {
      await keep({ dueAt: now, after: batch.after });
      yield batch.deleted;
    }
    await keep({ dueAt: new Date(now.getTime() + everyMs), after: null });
  }
}

/** A batch of a scan: the number of deleted records, and the last record of the batch. */
export interface ScanBatch<A> {
  readonly deleted: number;
  readonly after: A;
}

/**
 * Updates a document, or creates it. The update is repeated once if its outcome is unknown.
 * @param query names the document by its `_id`, and also matches it after the update
 * @returns false if the document exists and the query does not match it
 */
async function updateOrCreate<T extends mongo.Document>(
  collection: Documents<T>,
  query: mongo.Filter<T>,
  change: mongo.UpdateFilter<T>,
): Promise<boolean> {
  try {
    await retryOnce(() => collection.updateOne(query, change, { upsert: true }));
    return true;
  } catch (error) {
    if (!isDuplicateKey(error)) throw error; // The upsert found no match and tried to create the document again.
    return false;
  }
}
