import { retryAfterMs } from "../../shared/backoff.ts";
import type { SendOutcome } from "../channel.ts";
import { type ApiResponse, classifyStatus, describeResponse } from "../httpStatus.ts";
import { redactWithNames } from "../redact.ts";

/**
 * Matches descriptions of a 400 that are about the chat; all others are about the message. Telegram returns no codes, only
 * these words: those of its own server (tdlib/telegram-bot-api), and in capitals those of the servers behind it.
 */
const CHAT_ERROR =
  /\b((chat|user|channel|peer|thread|topic|member) not found|rights|deactivated|upgraded|chat_id|chat identifier|(CHAT|CHANNEL|PEER|USER|INPUT_USER|TOPIC|ALLOW_PAYMENT)_)/;
/** Matches an error that quotes the message, and may therefore contain any words. */
const PARSE_ERROR = /^(Bad Request: )?can't parse entities/;

/** The facts about a message that classifying its response needs. */
export interface MessageContext {
  /** Whether the chat is a group or a channel. */
  readonly isGroup: boolean;
  /** Names of the chat that must not appear in a reason. */
  readonly names: readonly string[];
  /** Texts that must not appear in a reason. */
  readonly secrets: readonly string[];
}

/** Classifies a response of the Bot API to a message. `moved` means that the group became a supergroup with another id. */
export function classifyResponse(
  response: ApiResponse,
  context: MessageContext,
): SendOutcome | { kind: "moved"; to: string } {
  const { status, json } = response;
  const id = json?.result?.message_id;
  if (status === 200 && json?.ok === true && Number.isSafeInteger(id)) return { kind: "sent", id: String(id) };
  const failure = classifyStatus("Telegram", response);
  if (json?.ok !== false) return failure; // sent by a proxy or another server

  // Telegram quotes entities that it cannot parse.
  const unquoted = typeof json.description === "string" ? json.description.replace(/"[^"]*"/g, '"…"') : "";
  const words = redactWithNames(context.names, unquoted, ...context.secrets).replace(/\.$/, "");
  const summary = describeResponse("Telegram", status) + (words && `: ${words}`);
  const reason = `${summary}.`;
  if (status === 429) {
    const seconds = json.parameters?.retry_after;
    const waitMs = typeof seconds === "number" ? Math.max(0, seconds) * 1_000 : retryAfterMs(response.headers);
    // Each group has its own limit of 20 messages a minute; other recipients need not wait for it.
    return { kind: "rate-limited", retryAfterMs: waitMs, scope: context.isGroup ? "recipient" : "channel", reason };
  }
  if (status === 401 || status === 404)
    return { kind: "authentication", reason: `${summary}: the token does not belong to a bot.` };
  if (status === 403) return { kind: "gone", reason };
  if (status !== 400) return { ...failure, reason };
  const movedTo = json.parameters?.migrate_to_chat_id;
  if (Number.isSafeInteger(movedTo)) return { kind: "moved", to: String(movedTo) };
  return { kind: CHAT_ERROR.test(unquoted) && !PARSE_ERROR.test(unquoted) ? "gone" : "content", reason };
}
