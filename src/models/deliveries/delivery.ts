import Type, { type Static } from "typebox";
import { ANY_NOTIFICATION_TYPES } from "../../shared/notifications/catalogue.ts";
import * as f from "../db/fields.ts";
import { StoredLease } from "../db/lease.ts";
import { NOTED_INDEX, Notes } from "../notes/note.ts";

export const DeliveryState = Type.Enum(["pending", "sent", "failed"]);
export type DeliveryState = Static<typeof DeliveryState>;

/**
 * `channel`: a message to a chat; `webhook`: a signed request; `wake`: an event that was added to the main session, for
 * which nothing is left to be sent.
 */
export const DeliveryKind = Type.Enum(["channel", "webhook", "wake"]);
export type DeliveryKind = Static<typeof DeliveryKind>;

/** The event that a delivery carries. */
export const DeliveredEvent = f.object({
  /** The id of the event, which is the `webhook-id` of each request. */
  id: f.string,
  type: f.oneOf(ANY_NOTIFICATION_TYPES),
  /** The id of the rule; null for the `callbackUrl` of a job or run, and for a test of a channel. */
  rule: f.nullable(f.string),
});
export type DeliveredEvent = f.Stored<typeof DeliveredEvent>;

/** A request to a web server. Its secret and its headers are read from the configuration for each attempt. */
export const WebhookRequest = f.object({
  /** The exact body of every attempt. */
  body: f.string,
  contentType: f.string,
  /** The `callbackUrl`; null if the rule has the address. */
  url: f.nullable(f.string),
});
export type WebhookRequest = f.Stored<typeof WebhookRequest>;

/** The question of a message with buttons. The gate decides; the message only shows it. */
export const AskedQuestion = f.object({
  gateId: f.string,
  /** The random id of the message's buttons, 16 bytes. */
  button: f.string,
  /** Whether the answer has required fields, so that the only button opens the page with its form. */
  needsForm: f.boolean,
  /** The version of the gate that the message shows (`gates/shown.ts`). */
  shown: f.string,
  /** The messages with the buttons by their refs: one, or more if it may have arrived twice. */
  refs: f.listOf(f.string),
  /** Whether the message may have to be edited yet. */
  open: f.boolean,
  /** Failed tries of the edit that is due. */
  tries: f.number,
  /** The earliest time of the next try. */
  notBefore: f.nullable(f.date),
});
export type AskedQuestion = f.Stored<typeof AskedQuestion>;

/** A message of a delivery. */
export const DeliveryPart = f.object({
  text: f.string,
  /** The text without formatting. */
  plain: f.string,
  /** `sending` if it was handed to the service and the outcome is unknown. */
  state: f.oneOf(["pending", "sending", "sent"]),
  /** When it was first handed to the service, if it may have been sent then. */
  handedAt: f.nullable(f.date),
  /** Whether the service rejected its formatting, so that it is sent as plain text. */
  asPlain: f.boolean,
  /** The service's id of the message. */
  id: f.nullable(f.string),
});
export type DeliveryPart = f.Stored<typeof DeliveryPart>;

/** A reply or an event that is sent to one recipient on one channel. */
export const DeliveryDoc = f.object({
  /** Derived from the turn or the event, so that a repeated write does not create a second delivery. */
  _id: f.string,
  /** The run of the reply; null for a turn of the main session. */
  runId: f.nullable(f.string),
  /** The session of a reply, whose replies keep their order; missing for one of the main session. */
  sessionKey: f.optional(f.string),
  /** The depth of the events that follow from it (`notes/depth.ts`); missing for 0. */
  depth: f.optional(f.number),
  /** Missing for a reply, which is of the kind `channel`. */
  kind: f.optional(f.oneOf(DeliveryKind.enum)),
  /** Missing for a reply. */
  event: f.optional(DeliveredEvent),
  /** Only of the kind `webhook`. */
  webhook: f.optional(WebhookRequest),
  /** The status code of the last answer to a webhook; missing if there was none. */
  lastStatus: f.optional(f.number),
  /** The channel of a message, otherwise the kind. */
  channel: f.string,
  /**
   * The recipient; null for a delivery that failed because it has none. For a webhook its rule, or the host of the
   * `callbackUrl`.
   */
  to: f.nullable(f.string),
  /** The replies of one session to one recipient, or one event or test alone. The deliveries of a lane are sent one at a time, in order. */
  lane: f.string,
  text: f.string,
  /** The title of an event's message, for services that show one; missing for a reply. */
  title: f.optional(f.string),
  /** The address of a page about the event; missing without `server.publicUrl`. */
  link: f.optional(f.string),
  /** The messages and threads of a reply by their channel and the service's names, so that an answer continues its session. */
  refs: f.optional(f.listOf(f.string)),
  /** The session that ends in this thread, because a person began that of this delivery. */
  replaces: f.optional(f.string),
  /** The question whose buttons the last message has; missing for a message without buttons. */
  question: f.optional(AskedQuestion),
  /** The live message that it edits if that exists, as the end of a job; missing for every other delivery. */
  live: f.optional(f.string),
  /** The messages of the text, split at the first attempt. */
  parts: f.listOf(DeliveryPart),
  state: f.oneOf(DeliveryState.enum),
  /** Whether it is pending. */
  open: f.boolean,
  /** MongoDB's time of insertion, or of the last retry by hand. */
  order: f.timestamp,
  /** The number of attempts that handed at least one part to the service. */
  attempts: f.number,
  /** Failed attempts since a part was last sent, including those of workers that died. */
  failures: f.number,
  /** Rate limits for the recipient alone, without a stated duration, since a part was last sent. */
  limits: f.number,
  /** Whether a part may have arrived twice, because the service has no idempotency key. */
  maybeTwice: f.boolean,
  /** The earliest time of the next attempt. */
  notBefore: f.nullable(f.date),
  /** The worker's lease. `isTakenOver` is set if the lease of another worker expired before. */
  lease: f.nullable(f.object({ ...StoredLease.fields, isTakenOver: f.optional(f.boolean) })),
  /** Why it failed, or why it waits. */
  reason: f.nullable(f.string),
  /** The stop of the channel that it waits for: its service refuses the credentials. Missing if the channel is ready. */
  channelStop: f.optional(f.object({ since: f.date, reason: f.string })),
  createdAt: f.date,
  /** When it was created, or last retried by hand. */
  since: f.date,
  sentAt: f.nullable(f.date),
  /** When it was sent or failed; null while it is pending. */
  endedAt: f.nullable(f.date),
  notes: Notes,
});
export type DeliveryDoc = f.Stored<typeof DeliveryDoc>;

/** Finds the next delivery of a lane, and of every lane at once. */
export const NEXT_OF_LANE = { open: 1, lane: 1, order: 1 } as const;

export const deliverySchema = f
  .schemaOf(DeliveryDoc)
  .index({ runId: 1, createdAt: 1 })
  .index({ createdAt: -1, _id: -1 })
  .index({ state: 1, createdAt: -1, _id: -1 })
  // Covers the counts by state of a channel, and of each kind, whose name is the channel of what is no message.
  .index({ channel: 1, state: 1 })
  .index({ endedAt: 1 }, { partialFilterExpression: { open: false } })
  .index(NEXT_OF_LANE, { partialFilterExpression: { open: true } })
  // Contains only deliveries of rules. MongoDB does not use a partial index with `$type` for a query by equality.
  .index({ "event.rule": 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { "event.rule": { $gt: "" } } })
  // Contains no replies.
  .index({ kind: 1, createdAt: -1, _id: -1 }, { partialFilterExpression: { kind: { $gt: "" } } })
  .index({ refs: 1, order: -1 }, { partialFilterExpression: { refs: { $exists: true } } })
  .index({ "question.button": 1 }, { partialFilterExpression: { "question.button": { $exists: true } } })
  // Finds the messages that may have to be edited.
  .index({ "question.open": 1, "question.gateId": 1 }, { partialFilterExpression: { "question.open": true } })
  .index(NOTED_INDEX.keys, NOTED_INDEX.options);

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
    | "_id"
    | "runId"
    | "sessionKey"
    | "kind"
    | "event"
    | "webhook"
    | "channel"
    | "to"
    | "text"
    | "title"
    | "link"
    | "question"
    | "replaces"
    | "live"
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

/** Returns the name of a message or thread among those of all channels. */
export const threadRef = (channel: string, ref: string): string => `${channel} ${ref}`;

/** The names of a message that was sent, for the field that keeps them. */
export type SentRefs = { readonly [field in "refs" | "question.refs"]?: readonly string[] };

/**
 * Returns the names of a message that was sent, for the write that marks it as sent: of a message with the buttons of a question,
 * or of a reply, whose answers continue the session.
 */
export function sentRefs(
  { channel, event }: Pick<DeliveryDoc, "channel" | "event">,
  refs: readonly string[],
  hasButtons: boolean,
): SentRefs {
  if (hasButtons) return { "question.refs": refs.slice(0, 1) };
  return event ? {} : { refs: refs.map((ref) => threadRef(channel, ref)) };
}

/** A delivery that should be on its queue. If `lease` is set, its worker's lease has expired. */
export type DueDelivery = Pick<DeliveryDoc, "_id" | "channel" | "lease" | "notBefore">;

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
