import { type mongo, Schema } from "mongoose";

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
  /** Tries: each hands at least one part over. */
  attempts: number;
  /** Those that failed since something of it was last sent, also for a worker that died in the middle. */
  failures: number;
  /** The service's limits for the recipient alone, since something was last sent, of which it did not say how long they last. */
  limits: number;
  /** A part may have arrived twice: its service has no key to tell. */
  maybeTwice: boolean;
  /** Not tried again before this time. */
  notBefore: Date | null;
  /** `isTakenOver`: the worker that had it before has died in the middle of it. */
  claim: { readonly token: string; readonly until: Date; readonly isTakenOver?: boolean } | null;
  /** Why it failed, or why it waits. */
  reason: string | null;
  createdAt: Date;
  /** Since when it is to be sent: when it was made, or begun anew by hand. */
  since: Date;
  sentAt: Date | null;
  /** When it was sent or failed; null while it is pending. */
  endedAt: Date | null;
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
    failures: Number,
    limits: Number,
    maybeTwice: Boolean,
    notBefore: Date,
    claim: Schema.Types.Mixed,
    reason: String,
    createdAt: Date,
    since: Date,
    sentAt: Date,
    endedAt: Date,
  },
  { versionKey: false },
);
deliverySchema.index({ runId: 1, createdAt: 1 });
deliverySchema.index({ createdAt: -1, _id: -1 });
deliverySchema.index({ state: 1, createdAt: -1, _id: -1 });
deliverySchema.index({ endedAt: 1 }, { partialFilterExpression: { open: false } });
/** Leads to the delivery of a lane whose turn it is, and of every lane at once. */
export const NEXT_OF_LANE = { open: 1, lane: 1, order: 1 } as const;
deliverySchema.index(NEXT_OF_LANE, { partialFilterExpression: { open: true } });

export interface NewDelivery extends Pick<DeliveryDoc, "_id" | "runId" | "channel" | "to" | "text"> {
  /** Why it has failed already; null where it can be tried. */
  readonly fault: string | null;
}

/** What a worker notes of a delivery that it holds. */
export type DeliveryChange = Partial<
  Pick<DeliveryDoc, "parts" | "attempts" | "failures" | "limits" | "maybeTwice" | "reason">
>;

/** What a worker notes of one part of it. */
export type PartChange = Partial<Omit<DeliveryPart, "text" | "plain">>;

/** A delivery that should be on its queue. `claim`: its worker has gone silent in the middle of it. */
export type DueDelivery = Pick<DeliveryDoc, "_id" | "channel" | "claim" | "notBefore">;

/** The projection of what clients read: a reply may be large, and is the run's to show. */
export const WITHOUT_TEXT = { text: 0, "parts.text": 0, "parts.plain": 0 } as const;
