import type { TextStyle } from "./markdown/style.ts";

/**
 * How sending one message ended. Each kind has one consequence, whichever channel returns it:
 *
 * | kind | meaning | consequence |
 * |---|---|---|
 * | `sent` | the service accepted the message | the next part is sent |
 * | `rate-limited` | too many messages, overall or to this recipient | retried when the service allows it; not counted as an attempt |
 * | `transient` | not accepted now, may be accepted later | retried a few times with growing delays |
 * | `authentication` | the credentials are not valid | the channel pauses; the log and the metrics report it |
 * | `gone` | the recipient cannot be reached | this delivery and all others to the recipient fail |
 * | `content` | the service rejects this text | retried once as plain text, then the delivery fails |
 * | `refused` | a filter or the like blocks the message, however it is written | the delivery fails |
 * | `ambiguous` | the message may have been sent | retried; without an idempotency key it may arrive twice, which the delivery records |
 *
 * `reason` is a sentence for the operator. It holds the service's own code and words, but never the token, the message's
 * text, the recipient or an address with credentials.
 */
export type SendOutcome =
  | { readonly kind: "sent" /** The service's own id of the message, if it returns one. */; readonly id: string | null }
  | {
      readonly kind: "rate-limited";
      /** Delay in milliseconds before the next message may be sent; null if the service names none. */
      readonly retryAfterMs: number | null;
      /** Whether the limit applies to the whole channel or to this recipient only. */
      readonly scope: "channel" | "recipient";
      readonly reason: string;
    }
  | {
      readonly kind: "transient" | "authentication" | "gone" | "content" | "refused" | "ambiguous";
      readonly reason: string;
    };

/** The result for a number that is ambiguous because of a zero in brackets. */
export const WITH_TRUNK_ZERO = {
  kind: "gone",
  reason:
    "The number contains (0): write it as it is dialled from abroad, in most countries without the zero, such as +49 151 00000000.",
} as const;

/** One message: a whole reply, or one part of a long one. */
export interface OutgoingMessage {
  /** The recipient, in the channel's own notation. */
  readonly to: string;
  readonly text: string;
  /** The text without formatting, for services whose messages contain both. */
  readonly plainText: string;
  /** Whether `text` has no formatting, so that the service must show each character as it is. */
  readonly plain: boolean;
  /** A short title of the message, for services that show one apart; absent for replies. */
  readonly title?: string | undefined;
  /** The address of a page about the subject of the message. */
  readonly link?: string | undefined;
  /** Idempotency key: the same for each attempt to send this part, unique to it; at most 64 letters, digits and `-`. */
  readonly key: string;
}

/** One messaging service. Created once per process and used by many deliveries concurrently. */
export interface Channel {
  readonly style: TextStyle;
  /** How long in milliseconds the service itself drops repeated messages with the same key; 0 if it does not. */
  readonly idempotentForMs: number;
  /**
   * Sends one message. Resolves soon after the signal is aborted: as `ambiguous`, or as `transient` if nothing was sent.
   * Never throws because of the service or the network.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendOutcome>;
  /** Checks the credentials without sending a message. `detail` names the account, or what is wrong. */
  check(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly detail: string }>;
}
