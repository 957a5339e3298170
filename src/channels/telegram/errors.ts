import { retryAfterMs } from "../../shared/retryAfter.ts";
import type { SendResult } from "../channel.ts";
import { type ApiResponse, classifyStatus, describeResponse } from "../httpStatus.ts";
import { redactWithNames } from "../redact.ts";

/**
 * What of a 400 is about the chat; all others are about the message. Telegram has no codes but these words: of its own server
 * (tdlib/telegram-bot-api), or of the servers behind that, in capitals.
 */
const CHAT_ERROR =
  /\b((chat|user|channel|peer|thread|topic|member) not found|rights|deactivated|upgraded|chat_id|chat identifier|(CHAT|CHANNEL|PEER|USER|INPUT_USER|TOPIC|ALLOW_PAYMENT)_)/;
/** It quotes the message, whose words then may be any. */
const PARSE_ERROR = /^(Bad Request: )?can't parse entities/;

/** What is looked at to judge an answer. */
interface MessageContext {
  /** Whether the chat is a group or a channel. */
  readonly isGroup: boolean;
  /** What it is called by. */
  readonly names: readonly string[];
  /** What may not be told. */
  readonly secrets: readonly string[];
}

/** What an answer of the Bot API says of a message; `movedChats`: the group is a supergroup of another id now. */
export function classifyResponse(
  response: ApiResponse,
  context: MessageContext,
): SendResult | { kind: "moved"; to: string } {
  const { status, json } = response;
  const id = json?.result?.message_id;
  if (status === 200 && json?.ok === true && Number.isSafeInteger(id)) return { kind: "sent", id: String(id) };
  const failure = classifyStatus("Telegram", response);
  if (json?.ok !== false) return failure; // a proxy's, or another server's altogether

  // An entity that cannot be parsed is quoted.
  const unquoted = typeof json.description === "string" ? json.description.replace(/"[^"]*"/g, '"…"') : "";
  const words = redactWithNames(context.names, unquoted, ...context.secrets).replace(/\.$/, "");
  const summary = describeResponse("Telegram", status) + (words && `: ${words}`);
  const reason = `${summary}.`;
  if (status === 429) {
    const seconds = json.parameters?.retry_after;
    const waitMs = typeof seconds === "number" ? Math.max(0, seconds) * 1_000 : retryAfterMs(response.headers);
    // Groups have a limit of their own, 20 messages a minute, which nobody else is to wait for.
    return { kind: "rate-limited", retryAfterMs: waitMs, scope: context.isGroup ? "recipient" : "channel", reason };
  }
  if (status === 401 || status === 404) return { kind: "authentication", reason: `${summary}: the token is no bot's.` };
  if (status === 403) return { kind: "gone", reason };
  if (status !== 400) return { ...failure, reason };
  const movedTo = json.parameters?.migrate_to_chat_id;
  if (Number.isSafeInteger(movedTo)) return { kind: "moved", to: String(movedTo) };
  return { kind: CHAT_ERROR.test(unquoted) && !PARSE_ERROR.test(unquoted) ? "gone" : "content", reason };
}
