import { type mongo, Schema } from "mongoose";
import type { Clock } from "../shared/clock.ts";
import { guard, insertNew } from "./guard.ts";

type DeliveryState = "pending" | "sent" | "failed";

/** One reply on its way to one recipient of one channel. */
export interface DeliveryDoc {
  /** Named after the turn that it belongs to, so that it is there once. */
  _id: string;
  /** The run that it belongs to; null for a turn of the main session. */
  runId: string | null;
  channel: string;
  /** Null when nobody is known to send it to: then it has failed. */
  to: string | null;
  text: string;
  state: DeliveryState;
  attempts: number;
  /** Why it failed. */
  reason: string | null;
  createdAt: Date;
  sentAt: Date | null;
}

export const deliverySchema = new Schema<DeliveryDoc>(
  {
    _id: String,
    runId: String,
    channel: String,
    to: String,
    text: String,
    state: String,
    attempts: Number,
    reason: String,
    createdAt: Date,
    sentAt: Date,
  },
  { versionKey: false },
);
deliverySchema.index({ runId: 1, createdAt: 1 });
deliverySchema.index({ createdAt: 1 }, { partialFilterExpression: { state: "pending" } });

export type NewDelivery = Pick<DeliveryDoc, "_id" | "runId" | "channel" | "to" | "text">;

/** A delivery as clients read it, without its text. */
export interface DeliveryView {
  deliveryId: string;
  channel: string;
  to: string | null;
  state: DeliveryState;
  attempts: number;
  reason: string | null;
  createdAt: string;
  sentAt: string | null;
}

export class Deliveries {
  readonly collection: mongo.Collection<DeliveryDoc>;
  readonly #clock: Clock;

  constructor(collection: mongo.Collection<DeliveryDoc>, clock: Clock) {
    this.collection = collection;
    this.#clock = clock;
  }

  /** Notes a delivery; one that is there already is left alone. @returns how many are new @throws AppError unavailable */
  add(delivery: NewDelivery): Promise<number> {
    const fresh = { state: "pending" as const, attempts: 0, reason: null, sentAt: null };
    return insertNew(this.collection, [{ ...delivery, ...fresh, createdAt: this.#clock.now() }]);
  }

  find(deliveryId: string): Promise<DeliveryDoc | null> {
    return guard(() => this.collection.findOne({ _id: deliveryId }));
  }

  findOfRuns(runIds: readonly string[]): Promise<DeliveryDoc[]> {
    return guard(() =>
      this.collection
        .find({ runId: { $in: [...runIds] } }, { projection: { text: 0 } })
        .sort({ createdAt: 1 })
        .toArray(),
    );
  }

  /** Those not sent yet, oldest first. */
  findPending(): AsyncIterable<Pick<DeliveryDoc, "_id">> {
    return this.collection.find({ state: "pending" }, { projection: { _id: 1 } }).sort({ createdAt: 1 });
  }

  markSent(deliveryId: string): Promise<void> {
    return this.#finish(deliveryId, { state: "sent", reason: null, sentAt: this.#clock.now() });
  }

  markFailed(deliveryId: string, reason: string): Promise<void> {
    return this.#finish(deliveryId, { state: "failed", reason });
  }

  async #finish(deliveryId: string, set: Partial<DeliveryDoc>): Promise<void> {
    const change = { $set: set, $inc: { attempts: 1 } };
    await guard(() => this.collection.updateOne({ _id: deliveryId, state: "pending" }, change));
  }

  view(delivery: DeliveryDoc): DeliveryView {
    const { _id, channel, to, state, attempts, reason, createdAt, sentAt } = delivery;
    const times = { createdAt: createdAt.toISOString(), sentAt: sentAt?.toISOString() ?? null };
    return { deliveryId: _id, channel, to, state, attempts, reason, ...times };
  }
}
