import type { Documents } from "../db/documents.ts";
import * as f from "../db/fields.ts";

/** When the worker processes last looked for silent jobs, whichever of them did. */
export const LastScanDoc = f.object({
  _id: f.string,
  at: f.date,
  /** The end of the last outage; null before the first one. */
  resumedAt: f.nullable(f.date),
});
export type LastScanDoc = f.Stored<typeof LastScanDoc>;

export const lastScanSchema = f.schemaOf(LastScanDoc);

const ID = "scan";

export class LastScan {
  readonly collection: Documents<LastScanDoc>;

  constructor(collection: Documents<LastScanDoc>) {
    this.collection = collection;
  }

  /**
   * Stores that a worker is looking for silent jobs now.
   * @param outageMs the shortest pause that counts as an outage
   * @returns the end of the last outage, or null before the first one
   */
  async record(now: Date, outageMs: number): Promise<Date | null> {
    const isResumed = { $gt: [{ $subtract: [now, { $ifNull: ["$at", now] }] }, outageMs] };
    const set = {
      resumedAt: { $cond: [isResumed, now, { $ifNull: ["$resumedAt", null] }] },
      at: { $max: ["$at", now] },
    };
    const found = await this.collection.findOneAndUpdate({ _id: ID }, [{ $set: set }], {
      upsert: true,
      returnDocument: "after",
    });
    return found?.resumedAt ?? null;
  }
}
