/** Generated from src/wire by `npm run docs`. Times are ISO 8601 in UTC with milliseconds. */

/** The kind of a delivery. */
export type DeliveryKind = "channel" | "webhook" | "wake";

/** The state of a delivery. */
export type DeliveryState = "pending" | "sent" | "failed";

/** A message of a delivery. */
export interface DeliveryPart {
  /** Whether the part was sent. */
  state: "pending" | "sending" | "sent";
  /** The id of the message at the chat service; null before it is sent. */
  id: string | null;
}

/** A delivery, as the service returns it. */
export interface Delivery {
  /** Identifies the delivery. */
  deliveryId: string;
  /** The run whose reply is delivered; null for a turn of the main session. */
  runId: string | null;
  /** Name of the run. Only in lists. */
  runName?: string | null;
  /**
   * Kind of the delivery: a text to a chat (`channel`), a signed request (`webhook`), or an event of the main session
   * (`wake`).
   */
  kind: "channel" | "webhook" | "wake";
  /** The rule of `notify` whose event is delivered; null for a reply, a `callbackUrl` and a test of a channel. */
  rule: string | null;
  /** Type of the event that is delivered, such as `job.failed`; null for a reply. */
  eventType: string | null;
  /** The channel that the text is sent to, such as `telegram`. For other kinds the kind itself. */
  channel: string;
  /**
   * The recipient in the notation of the channel; null if no recipient was known. For a webhook its rule, or the host
   * of the `callbackUrl`.
   */
  to: string | null;
  /**
   * The first words of the text, at most 120 characters on one line; null for a webhook. A question shows its title,
   * because its text has the link that answers it.
   */
  preview: string | null;
  /** `pending` until all parts are sent, or until the delivery fails or is cancelled. */
  state: "pending" | "sent" | "failed";
  /** Number of attempts so far. One attempt can send several parts. */
  attempts: number;
  /** For a webhook, the status code of the latest response; null if there was none. */
  lastStatus: number | null;
  /** The messages into which the reply is split; empty before the first attempt. */
  parts: DeliveryPart[];
  /** True if a part may have arrived twice, because the connection broke while it was sent. */
  maybeTwice: boolean;
  /** Why the delivery failed or waits; null otherwise. */
  reason: string | null;
  /** Time of the next attempt; null if the delivery does not have to wait. */
  notBefore: string | null;
  /** When the delivery was created. */
  createdAt: string;
  /** When the last part was sent. */
  sentAt: string | null;
}
