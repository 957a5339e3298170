import type { mongo } from "mongoose";
import type { Documents } from "../db/documents.ts";
import * as f from "../db/fields.ts";
import { isHeld, RecordLease, StoredLease } from "../db/lease.ts";
import { isDuplicateKey } from "../db/mongoErrors.ts";

/**
 * The message of a rule that follows one job. It is `new` until the service has it, then `shown`, and `over` once the job has
 * ended:
 *
 *     new --keep(id)--> shown --end--> over
 *     new --end--> over            over --acquire, after the job was started again--> new
 *
 * A message is written only under its lease, and not at all once it is over: then the delivery of the end has it.
 */
export const LiveMessageDoc = f.object({
  /** Rule, channel, recipient and internal id of the job, as JSON. */
  _id: f.string,
  job: f.objectId,
  jobId: f.string,
  /** The name of the job, for the end of a message whose job was deleted. */
  name: f.string,
  /** When the job began: its creation, or its new start after an end. */
  since: f.date,
  /** The service's id of the message; null before it is sent, and for one that cannot be edited. */
  id: f.nullable(f.string),
  isShown: f.boolean,
  /** The number of times that it was handed to the service to be sent, unless that certainly failed. */
  sends: f.number,
  lease: f.nullable(StoredLease),
  /** The notification that ended the job, and when it happened; missing before. */
  ended: f.optional(f.object({ by: f.string, at: f.date })),
  expiresAt: f.date,
});
export type LiveMessageDoc = f.Stored<typeof LiveMessageDoc>;

export const liveMessageSchema = f.schemaOf(LiveMessageDoc).index({ expiresAt: 1 }, { expireAfterSeconds: 0 });

/** How long a message is kept after its last edit. A job that is silent for longer begins another one. */
const KEEP_MS = 30 * 86_400_000;
/** How long it is kept after the end of its job, for the delivery of the end. */
const KEEP_ENDED_MS = 7 * 86_400_000;

/** The job that a message is about. */
export interface LiveJob {
  readonly job: mongo.ObjectId;
  readonly jobId: string;
  readonly name: string;
}

/** A job that has ended, and the notification of its end. */
export interface LiveEnd extends LiveJob {
  readonly _id: string;
  readonly by: string;
  readonly at: Date;
}

/** The message that the delivery of an end edits: `held` while an earlier edit is under way. */
export type EndedMessage =
  | { readonly kind: "held" }
  | { readonly kind: "none" }
  | { readonly kind: "message"; readonly id: string };

/** The parts of the id of a message. */
export type LiveKey = readonly [rule: string, channel: string, to: string, job: string];

export const liveMessageId = (...key: LiveKey): string => JSON.stringify(key);

/** The messages that follow jobs. */
export class LiveMessages {
  readonly collection: Documents<LiveMessageDoc>;
  readonly #lease: RecordLease<LiveMessageDoc>;

  constructor(collection: Documents<LiveMessageDoc>) {
    this.collection = collection;
    this.#lease = new RecordLease(collection, "lease");
  }

  /**
   * Acquires the lease on the message of a running job, and creates it if there is none. A message that is over begins again if
   * the job was changed after its end, because it was started again.
   * @returns "held" under another lease, "over" if the job has ended
   */
  async acquire(
    _id: string,
    { createdAt, updatedAt, ...job }: LiveJob & { readonly createdAt: Date; readonly updatedAt: Date },
    { now, ...lease }: StoredLease & { readonly now: Date },
  ): Promise<LiveMessageDoc | "held" | "over"> {
    const isOver = { $gt: ["$ended", null] };
    const kept = (field: string, first: unknown, again = first) => ({
      $cond: [isOver, again, { $ifNull: [`$${field}`, first] }],
    });
    const set = {
      job: job.job,
      jobId: { $literal: job.jobId },
      name: { $literal: job.name },
      since: kept("since", createdAt, updatedAt),
      id: kept("id", null),
      isShown: kept("isShown", false),
      sends: kept("sends", 0),
      lease,
      expiresAt: new Date(now.getTime() + KEEP_MS),
      ended: "$$REMOVE",
    };
    const isOpen = { $or: [{ ended: { $exists: false } }, { "ended.at": { $lt: updatedAt } }] };
    try {
      const found = await this.collection.findOneAndUpdate(
        { _id, $and: [this.#lease.free(now), isOpen] } as mongo.Filter<LiveMessageDoc>,
        [{ $set: set }],
        { upsert: true, returnDocument: "after" },
      );
      if (!found) throw new Error("an upsert returned no document");
      return found;
    } catch (error) {
      if (!isDuplicateKey(error)) throw error; // the upsert found no match and tried to create the document again
      const found = await this.collection.findOne({ _id });
      return found && isHeld(found.lease, now) ? "held" : "over";
    }
  }

  /** Acquires the lease on a message whose job was deleted. @returns as `acquire` */
  async acquireOpen(
    _id: string,
    { now, ...lease }: StoredLease & { readonly now: Date },
  ): Promise<LiveMessageDoc | "held" | "over"> {
    const open = { _id, ended: { $exists: false } };
    const found = await this.collection.findOneAndUpdate(
      { ...open, ...this.#lease.free(now) } as mongo.Filter<LiveMessageDoc>,
      { $set: { lease } },
      { returnDocument: "after" },
    );
    return found ?? ((await this.collection.exists(open)) ? "held" : "over");
  }

  /** Returns the ids of those messages among some that the service has and that can be edited. */
  async findShown(ids: readonly string[]): Promise<ReadonlySet<string>> {
    const shown = { _id: { $in: [...ids] }, id: { $type: "string" as const }, ended: { $exists: false } };
    const found = await this.collection.find(shown, { projection: { _id: 1 } });
    return new Set(found.map(({ _id }) => _id));
  }

  /** Changes a message that is held, and releases it with `isLast`. @returns false if it is not held under the token */
  keep(_id: string, token: string, change: Partial<LiveMessageDoc>, { isLast }: { isLast: boolean }): Promise<boolean> {
    return this.#lease.updateHeld(_id, token, { ...change, ...(isLast && { lease: null }) });
  }

  /**
   * Ends the messages of jobs that have ended, so that nothing but the deliveries of the ends writes to them. It may run twice.
   * @returns the ids of those that are shown, or may be, and can be edited
   */
  async end(ends: readonly LiveEnd[]): Promise<ReadonlySet<string>> {
    if (ends.length === 0) return new Set();
    const writes = ends.map(({ _id, by, at, ...job }) => ({
      updateOne: {
        // A job that was started again since has another message.
        filter: { _id, since: { $not: { $gt: at } } } as mongo.Filter<LiveMessageDoc>,
        update: {
          $set: { ended: { by, at }, expiresAt: new Date(at.getTime() + KEEP_ENDED_MS) },
          $setOnInsert: { ...job, since: at, id: null, isShown: false, sends: 0, lease: null },
        },
        upsert: true,
      },
    }));
    await this.collection.bulkWrite(writes, { ordered: false }).catch((error: unknown) => {
      if (!isDuplicateKey(error)) throw error;
    });
    const by = new Map(ends.map((end) => [end._id, end.by]));
    const found = await this.collection.find({ _id: { $in: [...by.keys()] } });
    const begun = found.filter(({ _id, ended, id, isShown, sends }) => {
      return ended?.by === by.get(_id) && (id !== null || (sends > 0 && !isShown));
    });
    return new Set(begun.map(({ _id }) => _id));
  }

  /** Reads the message that the delivery of an end edits. */
  async findEnded(_id: string, by: string, now: Date): Promise<EndedMessage> {
    const found = await this.collection.findOne({ _id, "ended.by": by });
    if (found && isHeld(found.lease, now)) return { kind: "held" };
    return found && found.id !== null ? { kind: "message", id: found.id } : { kind: "none" };
  }

  /** Lists the messages whose jobs have not ended, in batches. */
  listOpen(batchSize: number): AsyncGenerator<Pick<LiveMessageDoc, "_id" | keyof LiveJob>[], void> {
    return this.collection.inBatches(
      batchSize,
      { ended: { $exists: false } },
      { projection: { job: 1, jobId: 1, name: 1 } },
    );
  }

  /** Removes a message whose job was deleted. */
  async remove(_id: string, token: string): Promise<void> {
    await this.collection.deleteOne(this.#lease.heldUnder(_id, token));
  }
}
