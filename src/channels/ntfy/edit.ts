/** Priority of messages that replace others: phones show them without a sound. */
export const QUIET_PRIORITY = 2;

/**
 * Returns the id by which a message that was sent with a sequence (`X-Sequence-ID`) is replaced. Servers before version 2.16
 * do not return the sequence, and make a new notification of each message.
 */
export const sequenceOf = (json: { readonly sequence_id?: unknown } | undefined, key: string): string | null =>
  json?.sequence_id === key ? key : null;
