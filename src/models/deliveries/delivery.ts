import { type mongo, Schema } from "mongoose";

export type DeliveryState = "pending" | "sent" | "failed";

/** A message of a delivery. */
export interface DeliveryPart {
  readonly text: string;
  /** The text without formatting. */
  readonly plain: string;
  /** `sending` if it was handed to the service and the outcome is unknown. */
  readonly state: "pending" | "sending" | "sent";
  /** When it was first handed to the service, if it may have been sent then. */
  readonly handedAt: Date | null;
  /** Whether the service rejected its formatting, so that it is sent as plain text. */
  readonly asPlain: boolean;
  /** The service's id of the message. */
  readonly id: string | null;
}

/** A reply that is sent to one recipient on one channel. */
export interface DeliveryDoc {
  /** Derived from the turn, so that a repeated write does not create a second delivery. */
  _id: string;
  /** The run of the reply; null for a turn of the main session. */
  runId: string | null;
  channel: string;
  /** The recipient; null for a delivery that failed because it has none. */
  to: string | null;
  /** Channel and recipient. The deliveries of a lane are sent one at a time, in order. */
  lane: string;
  text: string;
  /** The messages of the text, split at the first attempt. */
  parts: DeliveryPart[];
  state: DeliveryState;
  /** Whether it is pending. */
  open: boolean;
  /** MongoDB's time of insertion, or of the last retry by hand. */
  order: mongo.Timestamp;
  /** The number of attempts that handed at least one part to the service. */
  attempts: number;
  /** Failed attempts since a part was last sent, including those of workers that died. */
  failures: number;
  /** Rate limits for the recipient alone, without a stated duration, since a part was last sent. */
  limits: number;
  /** Whether a part may have arrived twice, because the service has no idempotency key. */
  maybeTwice: boolean;
  /** The earliest time of the next attempt. */
  notBefore: Date | null;
  /** The worker's lease. `isTakenOver` is set if the lease of another worker expired before. */
  claim: { readonly token: string; readonly until: Date; readonly isTakenOver?: boolean } | null;
  /** Why it failed, or why it waits. */
  reason: string | null;
  createdAt: Date;
  /** When it was created, or last retried by hand. */
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
/** Finds the next delivery of a lane, and of every lane at once. */
export const NEXT_OF_LANE = { open: 1, lane: 1, order: 1 } as const;
deliverySchema.index(NEXT_OF_LANE, { partialFilterExpression: { open: true } });

export interface NewDelivery extends Pick<DeliveryDoc, "_id" | "runId" | "channel" | "to" | "text"> {
  /** Why it failed at once; null if it can be tried. */
  readonly fault: string | null;
}

/** The fields of a delivery that its worker updates. */
export type DeliveryChange = Partial<
  Pick<DeliveryDoc, "parts" | "attempts" | "failures" | "limits" | "maybeTwice" | "reason">
>;

/** The fields of a part that the worker updates. */
export type PartChange = Partial<Omit<DeliveryPart, "text" | "plain">>;

/** A delivery that should be on its queue. If `claim` is set, its worker's lease has expired. */
export type DueDelivery = Pick<DeliveryDoc, "_id" | "channel" | "claim" | "notBefore">;

/** The projection of the fields that clients read. Replies may be large, and are part of the run. */
export const WITHOUT_TEXT = { text: 0, "parts.text": 0, "parts.plain": 0 } as const;
