import type { Pace } from "../channel.ts";

/** Priority of messages that follow a job: phones show them without a sound. */
export const QUIET_PRIORITY = 2;

/**
 * ntfy.sh permits an anonymous sender 250 messages a day, alerts included; a server of one's own by default a burst of 60 and
 * then one in five seconds. Each edit is a message.
 */
export function paceAt(baseUrl: string): Pace {
  const ms = URL.parse(baseUrl)?.hostname === "ntfy.sh" ? 60_000 : 5_000;
  return { editMs: ms, firstMs: 1_000, channelMs: 1_000 };
}

/**
 * Returns the id by which a message that was sent with a sequence (`X-Sequence-ID`) is replaced. Servers before version 2.16
 * do not return the sequence, and make a new notification of each message.
 */
export const sequenceOf = (json: { readonly sequence_id?: unknown } | undefined, key: string): string | null =>
  json?.sequence_id === key ? key : null;
