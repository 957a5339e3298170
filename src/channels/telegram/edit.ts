import type { EditOutcome, Pace, SendOutcome } from "../channel.ts";
import type { ApiResponse } from "../httpStatus.ts";

/** The new text is the old one. */
const UNCHANGED = /^(Bad Request: )?message is not modified/i;
/** Telegram has no codes for these, only words; another id of the group (`migrate_to_chat_id`) gave its messages other ids. */
const MISSING = /\b(message to edit not found|message can't be edited|MESSAGE_ID_INVALID|MESSAGE_EDIT_TIME_EXPIRED)\b/i;

/**
 * Telegram permits about one message a second in a chat and 20 a minute in a group, edits included. Groups keep a quarter for
 * other messages.
 */
export const paceOf = (to: string): Pace =>
  /^\s*\d/.test(to)
    ? { editMs: 3_000, firstMs: 1_000, channelMs: 50 }
    : { editMs: 4_000, firstMs: 3_000, channelMs: 50 };

/**
 * Returns how an edit (`editMessageText`) ended.
 * @param classify classifies every other response
 */
export function editOutcome(
  response: ApiResponse,
  id: string,
  classify: (response: ApiResponse) => SendOutcome | { readonly kind: "moved" },
): EditOutcome {
  const { status, json } = response;
  const words: unknown = json?.description;
  if (status === 400 && typeof words === "string" && UNCHANGED.test(words)) return { kind: "sent", id };
  const outcome = classify(response);
  if (outcome.kind === "moved" || (status === 400 && typeof words === "string" && MISSING.test(words))) {
    return { kind: "missing", reason: "Telegram answered 400: the message can no longer be edited." };
  }
  return outcome;
}
