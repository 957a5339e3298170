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
  | {
      readonly kind: "sent";
      /** The service's own id of the message, if it returns one. */
      readonly id: string | null;
      /** The names by which people's answers refer to the message and to its thread, if the channel takes answers. */
      readonly refs?: readonly string[];
    }
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

/** A button of a message: `press` comes back as the data of a press, `url` opens a page. */
export type MessageButton =
  | { readonly label: string; readonly press: string }
  | { readonly label: string; readonly url: string };

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
  readonly buttons?: readonly MessageButton[] | undefined;
  /** Whether it is edited later, so that phones need not ring. Services with keys for that keep it replaceable. */
  readonly live?: true;
  /** Idempotency key: the same for each attempt to send this part, unique to it; at most 64 letters, digits and `-`. */
  readonly key: string;
}

/** How editing one message ended: as sending one, or `missing` if the message no longer exists or can no longer be edited. */
export type EditOutcome = SendOutcome | { readonly kind: "missing"; readonly reason: string };

/** Minimum pauses between the requests of messages that follow jobs, in milliseconds, from the limits of the service. */
export interface Pace {
  /** Between two edits at one recipient. */
  readonly editMs: number;
  /** Before the first message about a job, since the last request for the recipient. */
  readonly firstMs: number;
  /** Between any two requests to the service. */
  readonly channelMs: number;
}

/** The operations of a service that can edit messages. */
interface Editing {
  paceOf(to: string): Pace;
  /** Replaces the text and the buttons of a message. As `send`. @param id the id with which it was sent */
  edit(message: OutgoingMessage, id: string, signal: AbortSignal): Promise<EditOutcome>;
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
  /** Missing if the service cannot edit messages. */
  readonly editing?: Editing;
  /**
   * Answers the press of a button so that only the person who pressed it sees the text.
   * @returns false if the service cannot be reached, so that it should be tried again
   */
  answerPress?(press: { readonly reply: string; readonly text: string }, signal: AbortSignal): Promise<boolean>;
  /** Checks the credentials without sending a message. `detail` names the account, or what is wrong. */
  check(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly detail: string }>;
}
