import { readButtonData } from "../../shared/chatEvent.ts";
import { personName, type ReceivedAct } from "../inbound.ts";

// biome-ignore lint/suspicious/noExplicitAny: what Slack sends; each field that is read is checked
type Json = any;

const isId = (value: unknown): value is string => typeof value === "string" && /^[A-Z0-9]{2,32}$/.test(value);
const isTime = (value: unknown): value is string => typeof value === "string" && /^\d{1,16}\.\d{1,16}$/.test(value);

/** Returns the name of a message: its conversation, and the id with which it was sent. */
const refOf = (channel: string, ts: string): string => `${channel}/${channel}:${ts}`;

/** Returns the names of a message that the bot has sent, and of the thread in which it stands. */
export const slackRefs = (channel: string, ts: string, thread: string | undefined): string[] => [
  refOf(channel, ts),
  ...(thread === undefined ? [] : [refOf(channel, thread)]),
];

/** Reads what Slack sends about an act of a person: an event, or an interaction. Null for anything else. */
export const readSlackAct = (body: Json): ReceivedAct | null =>
  body?.type === "event_callback" ? readEvent(body) : readPress(body);

/**
 * Reads an event of the Events API; null for what is no message of a person, such as an edit, a join, or a message of a bot. A
 * mention comes as two events of one message, which have one id.
 */
function readEvent(body: Json): ReceivedAct | null {
  const { type, subtype, bot_id, hidden, user, text, channel, ts, thread_ts: thread } = body?.event ?? {};
  if (type !== "message" && type !== "app_mention") return null;
  if (subtype !== undefined || bot_id !== undefined || hidden === true) return null;
  if (!isId(user) || !isId(channel) || !isTime(ts) || typeof text !== "string") return null;
  const root = isTime(thread) ? thread : ts;
  return {
    id: `${channel}:${ts}`,
    event: {
      kind: "message",
      person: { id: user, name: user },
      text: plainText(text),
      isForwarded: false,
      to: `${channel}:${root}`,
      answers: isTime(thread) ? [refOf(channel, thread)] : [],
    },
  };
}

/** Reads the press of a button (`block_actions`); null for any other interaction. */
function readPress(payload: Json): ReceivedAct | null {
  const { type, user, container, actions } = payload ?? {};
  const [action] = Array.isArray(actions) ? actions : [];
  const button = readButtonData(action?.value);
  const { channel_id: channel, message_ts: ts } = container ?? {};
  if (type !== "block_actions" || !button || !isId(user?.id) || !isId(channel) || !isTime(ts)) return null;
  if (!isTime(action.action_ts)) return null;
  return {
    id: `${action.action_ts}:${user.id}`,
    event: {
      kind: "press",
      person: { id: user.id, name: personName([user.name, user.username], user.id) },
      ...button,
      ref: refOf(channel, ts),
      reply: `${channel}:${user.id}`,
    },
  };
}

/** Returns a text without the mention at its beginning and without Slack's entities. */
const plainText = (text: string): string =>
  text
    .replace(/^\s*<@[A-Z0-9]+>/, "")
    .trim()
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&amp;", "&");
