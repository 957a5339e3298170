import { mongo, Schema } from "mongoose";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { guard, insertNew } from "./guard.ts";

export type DeliveryState = "pending" | "sent" | "failed";

/** One message of a delivery. */
export interface DeliveryPart {
  readonly text: string;
  readonly plain: string;
  /** `sending`: it was handed over and nobody knows what became of it. */
  readonly state: "pending" | "sending" | "sent";
  /** When it was first handed over, where it may have been sent then. */
  readonly handedAt: Date | null;
  /** The service did not take it with its formatting. */
  readonly asPlain: boolean;
  /** The service's own id of the message. */
  readonly id: string | null;
}

/** One reply on its way to one recipient of one channel. */
export interface DeliveryDoc {
  /** Named after the turn that it belongs to, so that it is there once. */
  _id: string;
  /** The run that it belongs to; null for a turn of the main session. */
  runId: string | null;
  channel: string;
  /** Null when nobody is known to send it to: then it has failed. */
  to: string | null;
  /** Channel and recipient: the deliveries of a lane go one at a time, in their order. */
  lane: string;
  text: string;
  /** Made at the first try. */
  parts: DeliveryPart[];
  state: DeliveryState;
  /** Pending. */
  open: boolean;
  /** When MongoDB took it. */
  order: mongo.Timestamp;
  /** Tries that failed since something of it was last sent. */
  attempts: number;
  /** A part may have arrived twice: its service has no key to tell. */
  maybeTwice: boolean;
  /** Not tried again before this time. */
  notBefore: Date | null;
  claim: { readonly token: string; readonly until: Date } | null;
  /** Why it failed, or why it waits. */
  reason: string | null;
  createdAt: Date;
  /** Since when it is to be sent: when it was made, or begun anew by hand. */
  since: Date;
  sentAt: Date | null;
}

export const deliverySchema = new Schema<DeliveryDoc>(
  {
    _id: String,
    runId: String,
    channel: String,
    to: String,
    lane: String,
    text: String,
    parts: [Schema.Types.Mixed],
    state: String,
    open: Boolean,
    order: Schema.Types.Mixed,
    attempts: Number,
    maybeTwice: Boolean,
    notBefore: Date,
    claim: Schema.Types.Mixed,
    reason: String,
    createdAt: Date,
    since: Date,
    sentAt: Date,
  },
  { versionKey: false },
);
deliverySchema.index({ runId: 1, createdAt: 1 });
deliverySchema.index({ createdAt: -1, _id: -1 });
deliverySchema.index({ state: 1, createdAt: -1, _id: -1 });
/** Leads to the delivery of a lane whose turn it is, and of every lane at once. */
const NEXT_OF_LANE = { open: 1, lane: 1, order: 1 } as const;
deliverySchema.index(NEXT_OF_LANE, { partialFilterExpression: { open: true } });

export interface NewDelivery extends Pick<DeliveryDoc, "_id" | "runId" | "channel" | "to" | "text"> {
  /** Why it has failed already; null where it can be tried. */
  readonly fault: string | null;
}

/** What a worker notes of a delivery that it holds. */
export type DeliveryChange = Partial<Pick<DeliveryDoc, "parts" | "attempts" | "maybeTwice" | "reason">>;

/** What a worker notes of one part of it. */
export type PartChange = Partial<Omit<DeliveryPart, "text" | "plain">>;

/** A delivery that should be on its queue. `claim`: its worker has gone silent in the middle of it. */
export type DueDelivery = Pick<DeliveryDoc, "_id" | "channel" | "claim" | "notBefore">;

/** The projection of what clients read: a reply may be large, and is the run's to show. */
export const WITHOUT_TEXT = { text: 0, "parts.text": 0, "parts.plain": 0 } as const;

export class Deliveries {
  readonly collection: mongo.Collection<DeliveryDoc>;
  readonly #clock: Clock;

  constructor(collection: mongo.Collection<DeliveryDoc>, clock: Clock) {
    this.collection = collection;
    this.#clock = clock;
  }

  /** Notes a delivery; one that is there already is left alone. @throws AppError unavailable, body_too_large */
  async add({ fault, ...delivery }: NewDelivery): Promise<void> {
    const open = fault === null;
    await insertNew(this.collection, [
      {
        ...delivery,
        ...{ lane: laneOf(delivery), parts: [], open, state: open ? "pending" : "failed", reason: fault },
        ...{ attempts: 0, maybeTwice: false, notBefore: null, claim: null, sentAt: null },
        ...{ createdAt: this.#clock.now(), since: this.#clock.now() },
        order: new mongo.Timestamp({ t: 0, i: 0 }),
      },
    ]);
  }

  /** @throws AppError delivery_not_found, unavailable */
  async find(deliveryId: string): Promise<DeliveryDoc> {
    const found = await guard(() => this.collection.findOne({ _id: deliveryId }));
    if (found) return found;
    throw new AppError("delivery_not_found", { detail: `There is no delivery ${JSON.stringify(deliveryId)}.` });
  }

  findOfRuns(runIds: readonly string[]): Promise<DeliveryDoc[]> {
    const ofRuns = { runId: { $in: [...runIds] } };
    return guard(() => this.collection.find(ofRuns, { projection: WITHOUT_TEXT }).sort({ createdAt: 1 }).toArray());
  }

  /** Of those not sent yet of a lane the first. */
  findNext(lane: string): Promise<Pick<DeliveryDoc, "_id" | "channel"> | null> {
    const options = { sort: { order: 1 }, projection: { _id: 1, channel: 1 } } as const;
    return guard(() => this.collection.findOne({ open: true, lane }, options));
  }

  /** Takes a delivery whose turn it is and that nobody holds. */
  claim(deliveryId: string, token: string, until: Date): Promise<DeliveryDoc | null> {
    const now = this.#clock.now();
    const free = {
      $and: [
        { $or: [{ claim: null }, { "claim.until": { $lte: now } }] },
        { $or: [{ notBefore: null }, { notBefore: { $lte: now } }] },
      ],
    };
    const change = { $set: { claim: { token, until }, notBefore: null } };
    return guard(() =>
      this.collection.findOneAndUpdate({ _id: deliveryId, open: true, ...free }, change, { returnDocument: "after" }),
    );
  }

  /** @returns false when it is no longer this worker's */
  renew(deliveryId: string, token: string, until: Date): Promise<boolean> {
    return this.#changeClaimed(deliveryId, token, { "claim.until": until });
  }

  /** Notes how far a delivery is. @returns false when it is no longer this worker's */
  note(deliveryId: string, token: string, change: DeliveryChange): Promise<boolean> {
    return this.#changeClaimed(deliveryId, token, change);
  }

  /** The same of one part, without writing the others again. */
  notePart(
    deliveryId: string,
    token: string,
    index: number,
    part: PartChange,
    change: DeliveryChange,
  ): Promise<boolean> {
    const ofPart = Object.entries(part).map(([field, value]) => [`parts.${index}.${field}`, value]);
    return this.#changeClaimed(deliveryId, token, { ...change, ...Object.fromEntries(ofPart) });
  }

  /** Gives a delivery back, to be tried again after a while. */
  retryLater(deliveryId: string, token: string, notBefore: Date | null, change: DeliveryChange = {}): Promise<boolean> {
    return this.#changeClaimed(deliveryId, token, { ...change, claim: null, notBefore });
  }

  end(deliveryId: string, token: string, state: "sent" | "failed", reason: string | null): Promise<boolean> {
    const sentAt = state === "sent" ? this.#clock.now() : null;
    return this.#changeClaimed(deliveryId, token, { state, reason, sentAt, open: false, claim: null });
  }

  async #changeClaimed(deliveryId: string, token: string, set: object): Promise<boolean> {
    const held = { _id: deliveryId, open: true, "claim.token": token };
    const { matchedCount } = await guard(() => this.collection.updateOne(held, { $set: set }));
    return matchedCount === 1;
  }

  /**
   * Begins a failed delivery anew; what of it was sent is not sent again.
   * @param to the recipient where none was known
   * @throws AppError delivery_not_found, delivery_state_conflict, unavailable
   */
  async retry(deliveryId: string, to: string | null): Promise<DeliveryDoc> {
    const { channel } = await this.find(deliveryId);
    const anew = { state: "pending" as const, open: true, attempts: 0, reason: null, notBefore: null, claim: null };
    // behind what waits for the recipient by now
    const order = { order: { $type: "timestamp" as const } };
    const change = {
      $set: { ...anew, to, lane: laneOf({ channel, to }), since: this.#clock.now() },
      $currentDate: order,
    };
    const found = await guard(() =>
      this.collection.findOneAndUpdate({ _id: deliveryId, state: "failed" }, change, { returnDocument: "after" }),
    );
    if (found) return found;
    throw new AppError("delivery_state_conflict", { detail: "The delivery has not failed." });
  }

  /** Of each lane the delivery that comes next, where it waits since before a time. */
  findDue(now: Date, before: Date): AsyncIterable<DueDelivery> {
    const first = (field: string) => ({ $first: `$${field}` });
    const fields = { id: first("_id"), channel: first("channel"), claim: first("claim") };
    const pipeline = [
      { $match: { open: true } },
      { $sort: { lane: 1, order: 1 } },
      { $group: { _id: "$lane", ...fields, createdAt: first("createdAt"), notBefore: first("notBefore") } },
      {
        $match: {
          createdAt: { $lt: before },
          $and: [
            { $or: [{ notBefore: null }, { notBefore: { $lte: now } }] },
            { $or: [{ claim: null }, { "claim.until": { $lte: now } }] },
          ],
        },
      },
      { $project: { _id: "$id", channel: 1, claim: 1, notBefore: 1 } },
    ];
    return this.collection.aggregate<DueDelivery>(pipeline, { hint: NEXT_OF_LANE });
  }
}

const laneOf = ({ channel, to }: { channel: string; to: string | null }): string => `${channel} ${to}`;
