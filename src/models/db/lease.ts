import { type mongo, Schema } from "mongoose";
import type { Clock } from "../../shared/clock.ts";
import { takeIfFree } from "./mongoErrors.ts";

/** Work that one process at a time does. */
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

  /** @returns false while another holder has it */
  take(name: string, holder: string, forMs: number): Promise<boolean> {
    const now = this.#clock.now();
    const change = { $set: { holder, until: new Date(now.getTime() + forMs) } };
    const query = { _id: name, $or: [{ holder }, { until: { $lte: now } }] };
    return takeIfFree(this.collection, query, change);
  }
}
