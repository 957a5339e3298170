import Type, { type Static } from "typebox";
import { BsonDate, BsonTimestamp, closedObject, defineCollection, nullable } from "../db/collection.ts";
import { StoredLease } from "../db/lease.ts";
import { NOTED_INDEX, NotedType, Notes } from "../notifications/note.ts";

export const DeliveryState = Type.Enum(["pending", "sent", "failed"]);
export type DeliveryState = Static<typeof DeliveryState>;

/**
 * `channel`: a message to a chat; `webhook`: a signed request; `wake`: an event that was added to the main session, for
 * which nothing is left to be sent.
 */
export const DeliveryKind = Type.Enum(["channel", "webhook", "wake"]);
export type DeliveryKind = Static<typeof DeliveryKind>;

/** The event that a delivery carries. */
export const DeliveredEvent = closedObject({
  /** The id of the event, which is the `webhook-id` of each request. */
  id: Type.String(),
  type: NotedType,
  /** The id of the rule; null for the `callbackUrl` of a job or run, and for a test of a channel. */
  rule: nullable(Type.String()),
});
export type DeliveredEvent = Static<typeof DeliveredEvent>;

/** A request to a web server. Its secret and its headers are read from the configuration for each attempt. */
export const WebhookRequest = closedObject({
  /** The exact body of every attempt. */
  body: Type.String(),
  contentType: Type.String(),
  /** The `callbackUrl`; null if the rule has the address. */
  url: nullable(Type.String()),
});
export type WebhookRequest = Static<typeof WebhookRequest>;

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

/** A reply or an event that is sent to one recipient on one channel. */
export const DeliveryDoc = closedObject({
  /** Derived from the turn or the event, so that a repeated write does not create a second delivery. */
  _id: Type.String(),
  /** The run of the reply; null for a turn of the main session. */
  runId: nullable(Type.String()),
  /** The session of a reply, whose replies keep their order; missing for one of the main session. */
  sessionKey: Type.Optional(Type.String()),
  /** The depth of the events that follow from it (`notifications/depth.ts`); missing for 0. */
  depth: Type.Optional(Type.Number()),
  /** Missing for a reply, which is of the kind `channel`. */
  kind: Type.Optional(DeliveryKind),
  /** Missing for a reply. */
  event: Type.Optional(DeliveredEvent),
  /** Only of the kind `webhook`. */
  webhook: Type.Optional(WebhookRequest),
  /** The status code of the last answer to a webhook; missing if there was none. */
  lastStatus: Type.Optional(Type.Number()),
  /** The channel of a message, otherwise the kind. */
  channel: Type.String(),
  /**
   * The recipient; null for a delivery that failed because it has none. For a webhook its rule, or the host of the
   * `callbackUrl`.
   */
  to: nullable(Type.String()),
  /** The replies of one session to one recipient, or one event or test alone. The deliveries of a lane are sent one at a time, in order. */
  lane: Type.String(),
  text: Type.String(),
  /** The title of an event's message, for services that show one; missing for a reply. */
  title: Type.Optional(Type.String()),
  /** The address of a page about the event; missing without `server.publicUrl`. */
  link: Type.Optional(Type.String()),
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
  /** The stop of the channel that it waits for: its service refuses the credentials. Missing if the channel is ready. */
  channelStop: Type.Optional(closedObject({ since: BsonDate, reason: Type.String() })),
  createdAt: BsonDate,
  /** When it was created, or last retried by hand. */
  since: BsonDate,
  sentAt: nullable(BsonDate),
  /** When it was sent or failed; null while it is pending. */
  endedAt: nullable(BsonDate),
  notes: Notes,
});
export type DeliveryDoc = Static<typeof DeliveryDoc>;

/** Finds the next delivery of a lane, and of every lane at once. */
export const NEXT_OF_LANE = { open: 1, lane: 1, order: 1 } as const;

export const deliveryCollection = defineCollection(DeliveryDoc, [
  { keys: { runId: 1, createdAt: 1 } },
  { keys: { createdAt: -1, _id: -1 } },
  { keys: { state: 1, createdAt: -1, _id: -1 } },
  // Covers the counts by state of a channel, and of each kind, whose name is the channel of what is no message.
  { keys: { channel: 1, state: 1 } },
  { keys: { endedAt: 1 }, partialFilterExpression: { open: false } },
  { keys: NEXT_OF_LANE, partialFilterExpression: { open: true } },
  // Contains only deliveries of rules. MongoDB does not use a partial index with `$type` for a query by equality.
  { keys: { "event.rule": 1, createdAt: -1, _id: -1 }, partialFilterExpression: { "event.rule": { $gt: "" } } },
  // Contains no replies.
  { keys: { kind: 1, createdAt: -1, _id: -1 }, partialFilterExpression: { kind: { $gt: "" } } },
  NOTED_INDEX,
]);

/** The channels of deliveries that are no messages to a chat. */
export const OTHER_CHANNELS = ["webhook", "wake"] as const satisfies readonly DeliveryKind[];

/** Returns the id of the delivery of an event by a rule, so that an event that is dispatched twice is sent once. */
export const deliveryIdOf = (eventId: string, ruleId: string): string => `${eventId}-${ruleId}`;

/** Returns whether a delivery is a test of a rule or of a channel. */
export const isTest = ({ event }: { readonly event?: DeliveredEvent | undefined }): boolean => event?.type === "test";

/** Returns whether a person waits for an attempt: after a retry by hand, or for a test. */
export const isAskedFor = (delivery: Pick<DeliveryDoc, "since" | "createdAt" | "event">): boolean =>
  delivery.since > delivery.createdAt || isTest(delivery);

/**
 * Returns the priority of a delivery in the queue of its channel: replies, and questions to people, go before other events. Lower
 * is sooner.
 */
export const priorityOf = ({ event }: { readonly event?: DeliveredEvent | undefined }): number =>
  event && event.type !== "gate.opened" ? 1 : 0;

export const kindOf = ({ kind = "channel" }: Pick<DeliveryDoc, "kind">): DeliveryKind => kind;

export interface NewDelivery
  extends Pick<
    DeliveryDoc,
    "_id" | "runId" | "sessionKey" | "kind" | "event" | "webhook" | "channel" | "to" | "text" | "title" | "link"
  > {
  /** Why it failed at once; null if it can be tried. */
  readonly fault: string | null;
  readonly depth?: number | undefined;
}

/** The fields of a delivery that its worker updates. */
export type DeliveryChange = Partial<
  Pick<
    DeliveryDoc,
    "parts" | "attempts" | "failures" | "limits" | "maybeTwice" | "reason" | "lastStatus" | "channelStop"
  >
>;

/** The fields that the end of a webhook sets besides its state. */
export type AttemptCounts = Partial<Pick<DeliveryDoc, "attempts" | "lastStatus">>;

/** The fields of a part that the worker updates. */
export type PartChange = Partial<Omit<DeliveryPart, "text" | "plain">>;

/** A delivery that should be on its queue. If `claim` is set, its worker's lease has expired. */
export type DueDelivery = Pick<DeliveryDoc, "_id" | "channel" | "claim" | "notBefore">;

/** The fields of a delivery that clients read. */
export type ReadDelivery = Pick<
  DeliveryDoc,
  "_id" | "runId" | "kind" | "event" | "channel" | "to" | "text" | "title" | "state" | "reason" | "lastStatus"
> &
  Pick<DeliveryDoc, "attempts" | "maybeTwice" | "notBefore" | "createdAt" | "since" | "sentAt"> & {
    readonly parts: readonly Pick<DeliveryPart, "state" | "id">[];
  };

/** Characters of a text that clients read the beginning of. Replies may be large. */
const READ_CHARS = 400;

/** The projection of the fields that clients read, with the beginning of the text. */
export const AS_READ = {
  runId: 1,
  kind: 1,
  event: 1,
  channel: 1,
  to: 1,
  title: 1,
  state: 1,
  reason: 1,
  lastStatus: 1,
  attempts: 1,
  maybeTwice: 1,
  notBefore: 1,
  createdAt: 1,
  since: 1,
  sentAt: 1,
  "parts.state": 1,
  "parts.id": 1,
  text: { $substrCP: ["$text", 0, READ_CHARS] },
} as const;
