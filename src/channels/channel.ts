import type { TextStyle } from "./markdown/style.ts";

/**
 * What became of one message handed to a service; each kind has one behaviour, whichever channel it comes from:
 *
 * | kind | what it says | what follows |
 * |---|---|---|
 * | `sent` | the service has it | the next part |
 * | `rate-limited` | too many, of all or of this recipient | again when the service says, or after a while; counts as no try |
 * | `transient` | it was not taken, and may be another time | again, ever later, a few times |
 * | `authentication` | the credentials are not good | the channel stops for a while; it is told in the log and the metrics |
 * | `gone` | this recipient cannot be reached so | the delivery fails, and all others to the recipient |
 * | `content` | the service does not take this text | once more as plain text, then the delivery fails |
 * | `refused` | the service does not let this message through, however it is written: a filter, say | the delivery fails |
 * | `ambiguous` | it may have been sent | again: with an idempotency key nobody sees it twice, without one it may arrive twice, which the delivery then says |
 *
 * `reason` is a sentence for the operator: the service's own code and words, never the token, the recipient's text or an
 * address with credentials in it.
 */
export type SendResult =
  | { readonly kind: "sent" /** The service's own id of the message. */; readonly id: string | null }
  | {
      readonly kind: "rate-limited";
      /** Milliseconds until when nothing more may be sent; null where the service does not say. */
      readonly retryAfterMs: number | null;
      /** Whom the limit is about. */
      readonly scope: "channel" | "recipient";
      readonly reason: string;
    }
  | {
      readonly kind: "transient" | "authentication" | "gone" | "content" | "refused" | "ambiguous";
      readonly reason: string;
    };

/** One message: a reply, or one part of a long one. */
export interface OutgoingMessage {
  /** The recipient, as the channel names it. */
  readonly to: string;
  readonly text: string;
  /** Without any formatting: the service is to show it letter by letter. */
  readonly plain: boolean;
  /** The same for each try to send this part, of no other one; at most 64 letters, digits and `-`. */
  readonly key: string;
}

/** One service that takes messages. Made once for each process, used by many deliveries at a time. */
export interface Channel {
  readonly style: TextStyle;
  /** Milliseconds for which the service itself sees to it that a message of the same key is there once; 0 where it does not. */
  readonly idempotentForMs: number;
  /**
   * Hands one message over. Settles soon after the signal fires, then as ambiguous, or transient where surely nothing was
   * sent. Never throws for what a service or a network does.
   */
  send(message: OutgoingMessage, signal: AbortSignal): Promise<SendResult>;
  /** Tries the credentials without sending anything. `detail`: who one is there, or what is wrong. */
  check(signal: AbortSignal): Promise<{ readonly ok: boolean; readonly detail: string }>;
}
