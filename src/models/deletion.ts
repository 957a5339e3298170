import { type mongo, Schema } from "mongoose";
import type { Clock } from "../shared/clock.ts";
import { guard } from "./guard.ts";
import { readAll } from "./readAll.ts";
import type { JobRef } from "./step.ts";

/**
 * Says that a job is being deleted or has been: written before the job goes, kept until its steps are surely gone,
 * also the one that a report wrote in the moment of the deletion.
 */
export interface DeletionDoc {
  /** The internal id of the job. */
  _id: mongo.ObjectId;
  jobId: string;
  deletedAt: Date;
}

export const deletionSchema = new Schema<DeletionDoc>({ jobId: String, deletedAt: Date }, { versionKey: false });
deletionSchema.index({ deletedAt: 1 });

export class Deletions {
  readonly collection: mongo.Collection<DeletionDoc>;
  readonly #clock: Clock;

  constructor(collection: mongo.Collection<DeletionDoc>, clock: Clock) {
    this.collection = collection;
    this.#clock = clock;
  }

  /** Notes that the jobs are about to be deleted; noting one twice is noting it once. */
  async record(jobs: readonly JobRef[]): Promise<void> {
    const deletedAt = this.#clock.now();
    const writes = jobs.map(({ _id, jobId }) => ({
      updateOne: { filter: { _id }, update: { $setOnInsert: { jobId, deletedAt } }, upsert: true },
    }));
    await guard(() => this.collection.bulkWrite(writes, { ordered: false }));
  }

  /** The oldest notes that were written before a time. */
  findBefore(time: Date, limit: number): Promise<DeletionDoc[]> {
    return readAll(this.collection, { deletedAt: { $lt: time } }, { sort: { deletedAt: 1 }, limit });
  }

  async remove(jobs: readonly JobRef[]): Promise<void> {
    await guard(() => this.collection.deleteMany({ _id: { $in: jobs.map((job) => job._id) } }));
  }
}
