import { type ChatEvent, readButtonData } from "../../shared/chatEvent.ts";

/** The kinds of updates that are read. Telegram keeps the others from the bot. */
export const ALLOWED_UPDATES = ["callback_query"] as const;

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

/** Reads an update of Telegram; null for what is no act of a person. */
export function readTelegramUpdate(update: Json): ChatEvent | null {
  const { id, from, message, data } = update?.callback_query ?? {};
  const button = readButtonData(data);
  const [ref] = telegramRefs(message, undefined);
  if (!button || ref === undefined || typeof id !== "string" || !isId(from?.id) || from.is_bot) return null;
  return { kind: "press", person: personOf(from), ...button, ref, reply: id };
}

const personOf = ({ id, first_name, last_name }: Json) => ({
  id: String(id),
  name: [first_name, last_name]
    .filter((part) => typeof part === "string")
    .join(" ")
    .slice(0, MAX_NAME_CHARS)
    .toWellFormed(),
});
