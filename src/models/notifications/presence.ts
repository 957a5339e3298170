import type { mongo } from "mongoose";
import Type, { type Static } from "typebox";
import { BsonDate, closedObject, defineCollection, nullable } from "../db/collection.ts";
import { mapMongoErrors } from "../db/mongoErrors.ts";

/** When the worker processes last looked for silent jobs, whichever of them did. */
export const PresenceDoc = closedObject({
  _id: Type.String(),
  seenAt: BsonDate,
  /** The end of the last outage; null before the first one. */
  resumedAt: nullable(BsonDate),
});
export type PresenceDoc = Static<typeof PresenceDoc>;

export const presenceCollection = defineCollection(PresenceDoc);

const ID = "scan";

export class Presence {
  readonly collection: mongo.Collection<PresenceDoc>;

  constructor(collection: mongo.Collection<PresenceDoc>) {
    this.collection = collection;
  }

  /**
   * Stores that a worker is looking for silent jobs now.
   * @param outageMs the shortest pause that counts as an outage
   * @returns the end of the last outage, or null before the first one
   * @throws AppError unavailable
   */
  async record(now: Date, outageMs: number): Promise<Date | null> {
    const isResumed = { $gt: [{ $subtract: [now, { $ifNull: ["$seenAt", now] }] }, outageMs] };
    const set = {
      resumedAt: { $cond: [isResumed, now, { $ifNull: ["$resumedAt", null] }] },
      seenAt: { $max: ["$seenAt", now] },
    };
    const found = await mapMongoErrors(() =>
      this.collection.findOneAndUpdate({ _id: ID }, [{ $set: set }], { upsert: true, returnDocument: "after" }),
    );
    return found?.resumedAt ?? null;
  }
}
