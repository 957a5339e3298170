import { createHmac } from "node:crypto";
import { type ChatEvent, readButtonData } from "../../shared/chatEvent.ts";
import { personName, type ReceivedAct } from "../inbound.ts";

/** The kinds of updates that are read. Telegram keeps the others from the bot. */
export const ALLOWED_UPDATES = ["message", "callback_query"] as const;

/** Returns the secret that Telegram sends with each update to a webhook. Every process derives it from the token. */
export const webhookSecret = (botToken: string): string =>
  createHmac("sha256", botToken).update("webhook of signalbox").digest("base64url");

// biome-ignore lint/suspicious/noExplicitAny: what Telegram sends; each field that is read is checked
type Json = any;

const isId = (value: unknown): value is number => Number.isSafeInteger(value);

/** Returns the names of a message that the bot has sent, and of its topic. */
export function telegramRefs(message: Json, topic: string | undefined): string[] {
  const { message_id: id, chat } = message ?? {};
  if (!isId(id) || !isId(chat?.id)) return [];
  return [`${chat.id}/${id}`, ...(topic === undefined ? [] : [`${chat.id}#${topic}`])];
}

/**
 * Reads an update of Telegram; null for what is no act of a person, such as an edit, a join, or a message of a bot. Its id names
 * the bot too, because each bot counts its own updates.
 */
export function readTelegramAct({ botToken }: { readonly botToken: string }, update: Json): ReceivedAct | null {
  const event = update?.message ? readMessage(update.message) : readPress(update);
  const [bot] = botToken.split(":", 1);
  return event && isId(update.update_id) ? { id: `${bot}:${update.update_id}`, event } : null;
}

function readPress(update: Json): ChatEvent | null {
  const { id, from, message, data } = update?.callback_query ?? {};
  const button = readButtonData(data);
  const [ref] = telegramRefs(message, undefined);
  if (!button || ref === undefined || !isId(from?.id) || from.is_bot) return null;
  if (typeof id !== "string" || !/^[\w-]{1,64}$/.test(id)) return null;
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
  name: personName([[first_name, last_name].filter((part) => typeof part === "string").join(" ")], ""),
});
