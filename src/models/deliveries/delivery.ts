import Type, { type Static } from "typebox";
import { BsonDate, BsonTimestamp, closedObject, defineCollection, nullable } from "../db/collection.ts";
import { StoredLease } from "../db/lease.ts";

export const DeliveryState = Type.Enum(["pending", "sent", "failed"]);
export type DeliveryState = Static<typeof DeliveryState>;

/** A message of a delivery. */
export const DeliveryPart = closedObject({
  text: Type.String(),
  /** The text without formatting. */
  plain: Type.String(),
  /** `sending` if it was handed to the service and the outcome is unknown. */
  state: Type.Enum(["pending", "sending", "sent"]),
  /** When it was first handed to the service, if it may have been sent then. */
  handedAt: nullable(BsonDate),
  /** Whether the service rejected its formatting, so that it is sent as plain text. */
  asPlain: Type.Boolean(),
  /** The service's id of the message. */
  id: nullable(Type.String()),
});
export type DeliveryPart = Static<typeof DeliveryPart>;

/** A reply that is sent to one recipient on one channel. */
export const DeliveryDoc = closedObject({
  /** Derived from the turn, so that a repeated write does not create a second delivery. */
  _id: Type.String(),
  /** The run of the reply; null for a turn of the main session. */
  runId: nullable(Type.String()),
  channel: Type.String(),
  /** The recipient; null for a delivery that failed because it has none. */
  to: nullable(Type.String()),
  /** Channel and recipient. The deliveries of a lane are sent one at a time, in order. */
  lane: Type.String(),
  text: Type.String(),
  /** The messages of the text, split at the first attempt. */
  parts: Type.Array(DeliveryPart),
  state: DeliveryState,
  /** Whether it is pending. */
  open: Type.Boolean(),
  /** MongoDB's time of insertion, or of the last retry by hand. */
  order: BsonTimestamp,
  /** The number of attempts that handed at least one part to the service. */
  attempts: Type.Number(),
  /** Failed attempts since a part was last sent, including those of workers that died. */
  failures: Type.Number(),
  /** Rate limits for the recipient alone, without a stated duration, since a part was last sent. */
  limits: Type.Number(),
  /** Whether a part may have arrived twice, because the service has no idempotency key. */
  maybeTwice: Type.Boolean(),
  /** The earliest time of the next attempt. */
  notBefore: nullable(BsonDate),
  /** The worker's lease. `isTakenOver` is set if the lease of another worker expired before. */
  claim: nullable(closedObject({ ...StoredLease.properties, isTakenOver: Type.Optional(Type.Boolean()) })),
  /** Why it failed, or why it waits. */
  reason: nullable(Type.String()),
  createdAt: BsonDate,
  /** When it was created, or last retried by hand. */
  since: BsonDate,
  sentAt: nullable(BsonDate),
  /** When it was sent or failed; null while it is pending. */
  endedAt: nullable(BsonDate),
});
export type DeliveryDoc = Static<typeof DeliveryDoc>;

/** Finds the next delivery of a lane, and of every lane at once. */
export const NEXT_OF_LANE = { open: 1, lane: 1, order: 1 } as const;

export const deliveryCollection = defineCollection(DeliveryDoc, [
  { keys: { runId: 1, createdAt: 1 } },
  { keys: { createdAt: -1, _id: -1 } },
  { keys: { state: 1, createdAt: -1, _id: -1 } },
  { keys: { endedAt: 1 }, partialFilterExpression: { open: false } },
  { keys: NEXT_OF_LANE, partialFilterExpression: { open: true } },
]);

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
