import { AppError } from "../../shared/errors.ts";
import type { Documents } from "../db/documents.ts";
import { BatchInserter, insertAll } from "../db/insertAll.ts";
import { type HookRequestDoc, type NewHookRequest, newHookRequest } from "./hookRequest.ts";

/** Maximum refused requests that are kept: their senders are anybody, and must not be able to fill the disk. */
export const MAX_REFUSED = 500;
/** Maximum requests that one call deletes. */
const BATCH_SIZE = 500;

/** The requests that are kept. */
export class HookRequests {
  readonly collection: Documents<HookRequestDoc>;
  readonly #inserter: BatchInserter<HookRequestDoc>;

  constructor(collection: Documents<HookRequestDoc>) {
    this.collection = collection;
    this.#inserter = new BatchInserter(collection, ({ storedBytes }) => storedBytes);
  }

  /** Stores a request. @throws AppError unavailable, body_too_large */
  async add(request: NewHookRequest): Promise<void> {
    await this.#inserter.add([newHookRequest(request)]);
  }

  /** Stores refused requests, and deletes all but the newest `MAX_REFUSED`. */
  async addRefused(requests: readonly NewHookRequest[]): Promise<void> {
    await insertAll(this.collection, [requests.map(newHookRequest)]);
    const refused = { outcome: "refused" } as const;
    const options = { sort: { createdAt: -1, _id: -1 }, skip: MAX_REFUSED, projection: { createdAt: 1 } } as const;
    const first = await this.collection.findOne(refused, options);
    if (!first) return;
    const { _id, createdAt } = first;
    const old = [{ createdAt: { $lt: createdAt } }, { createdAt, _id: { $lte: _id } }];
    await this.collection.deleteMany({ ...refused, $or: old });
  }

  /** Reads a request with its body, whether it is confirmed or not; null if it is not kept. */
  find(_id: string): Promise<HookRequestDoc | null> {
    return this.collection.findOne({ _id });
  }

  /**
   * Records how one of a request's runs has ended, with the job that it reported, and what that makes of the request. Safe to repeat, and to call for a request
   * that is no longer kept.
   */
  async recordRun(
    _id: string,
    runId: string,
    end: "failed" | "dropped" | "completed",
    jobId?: string | undefined,
  ): Promise<void> {
    const one = [{ $literal: runId }];
    const list = (name: "failedRuns" | "droppedRuns", isIn: boolean) => ({
      [name]: isIn ? { $setUnion: [`$${name}`, one] } : { $setDifference: [`$${name}`, one] },
    });
    const areAllDropped = {
      $and: [{ $gt: [{ $size: "$runIds" }, 0] }, { $eq: [{ $size: "$droppedRuns" }, { $size: "$runIds" }] }],
    };
    const otherwise = { $cond: [areAllDropped, "dropped", "accepted"] };
    const outcome = { $cond: [{ $gt: [{ $size: "$failedRuns" }, 0] }, "failed", otherwise] };
    const changes = [
      ...(jobId === undefined
        ? []
        : [{ $set: { jobIds: { $setUnion: [{ $ifNull: ["$jobIds", []] }, [{ $literal: jobId }]] } } }]),
      { $set: { ...list("failedRuns", end === "failed"), ...list("droppedRuns", end === "dropped") } },
      { $set: { outcome } },
    ];
    await this.collection.updateOne({ _id }, changes);
  }

  /** Deletes one batch of requests from before a time. @returns the number of deleted requests */
  async deleteBefore(time: Date): Promise<number> {
    const old = { createdAt: { $lt: time } };
    const batch = await this.collection.find(old, { projection: { _id: 1 }, limit: BATCH_SIZE });
    return this.delete(batch.map(({ _id }) => _id));
  }

  /**
   * Deletes the oldest requests, at most one batch, while all requests together are larger than a size.
   * @returns the number of deleted requests
   */
  async deleteAbove(maxBytes: number): Promise<number> {
    let excess = (await this.#storedBytes()) - maxBytes;
    if (excess <= 0) return 0;
    const options = { sort: { createdAt: 1, _id: 1 }, limit: BATCH_SIZE, projection: { storedBytes: 1 } } as const;
    const oldest = await this.collection.find({}, options);
    const ids = oldest.flatMap(({ _id, storedBytes }) => {
      if (excess <= 0) return [];
      excess -= storedBytes;
      return [_id];
    });
    return this.delete(ids);
  }

  /** Returns the size of all requests by the statistics of MongoDB, which cost no scan. */
  async #storedBytes(): Promise<number> {
    const stages = [
      { $collStats: { storageStats: {} } },
      { $group: { _id: null, bytes: { $sum: "$storageStats.size" } } },
    ];
    // MongoDB gives these statistics only for the state of this server.
    const options = { readConcern: { level: "local" } } as const;
    const [sum] = await this.collection.aggregate<{ bytes: number }>(stages, options);
    return sum?.bytes ?? 0;
  }

  /** Deletes requests. @returns the number of deleted requests */
  async delete(ids: readonly string[]): Promise<number> {
    if (ids.length === 0) return 0;
    const { deletedCount } = await this.collection.deleteMany({ _id: { $in: [...ids] } });
    return deletedCount;
  }
}

export const requestNotFound = (requestId: string): AppError =>
  new AppError("request_not_found", {
    detail: `There is no kept request ${JSON.stringify(requestId)}. Requests are kept for the time of hooks.keepRequests.`,
  });
