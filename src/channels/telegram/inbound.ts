import { type ChatEvent, readButtonData } from "../../shared/chatEvent.ts";

/** The kinds of updates that are read. Telegram keeps the others from the bot. */
export const ALLOWED_UPDATES = ["message", "callback_query"] as const;

/** Maximum characters of a person's name. */
const MAX_NAME_CHARS = 64;

// biome-ignore lint/suspicious/noExplicitAny: what Telegram sends; each field that is read is checked
type Json = any;

const isId = (value: unknown): value is number => Number.isSafeInteger(value);

/** Returns the names of a message that the bot has sent, and of its topic. */
export function telegramRefs(message: Json, topic: string | undefined): string[] {
  const { message_id: id, chat } = message ?? {};
  if (!isId(id) || !isId(chat?.id)) return [];
  return [`${chat.id}/${id}`, ...(topic === undefined ? [] : [`${chat.id}#${topic}`])];
}

/** Reads an update of Telegram; null for what is no act of a person, such as an edit, a join, or a message of a bot. */
export function readTelegramUpdate(update: Json): ChatEvent | null {
  return update?.message ? readMessage(update.message) : readPress(update);
}

function readPress(update: Json): ChatEvent | null {
  const { id, from, message, data } = update?.callback_query ?? {};
  const button = readButtonData(data);
  const [ref] = telegramRefs(message, undefined);
  if (!button || ref === undefined || typeof id !== "string" || !isId(from?.id) || from.is_bot) return null;
  return { kind: "press", person: personOf(from), ...button, ref, reply: id };
}

function readMessage({ from, chat, text, ...message }: Json): ChatEvent | null {
  if (typeof text !== "string" || !isId(chat?.id) || !isId(from?.id) || from.is_bot) return null;
  const { reply_to_message: quoted, message_thread_id: thread, is_topic_message: inTopic, forward_origin } = message;
  const [answered] = telegramRefs({ message_id: quoted?.message_id, chat }, undefined);
  return {
    kind: "message",
    person: personOf(from),
    text,
    isForwarded: forward_origin !== undefined,
    to: isId(thread) && inTopic ? `${chat.id}:${thread}` : String(chat.id),
    // Outside of topics, Telegram names a thread by its first message.
    answers: [answered ?? [], isId(thread) ? `${chat.id}${inTopic ? "#" : "/"}${thread}` : []].flat(),
  };
}

const personOf = ({ id, first_name, last_name }: Json) => ({
  id: String(id),
  name: [first_name, last_name]
    .filter((part) => typeof part === "string")
    .join(" ")
    .slice(0, MAX_NAME_CHARS)
    .toWellFormed(),
});
