import type { Config } from "../../config/config.ts";
import { retryAfterMs } from "../../shared/backoff.ts";
import { TELEGRAM_RECIPIENT } from "../../shared/recipients/chats.ts";
import type { Channel, SendOutcome } from "../channel.ts";
import { createEndpoints } from "../endpoint.ts";
import { excerpt, sendRequest } from "../http.ts";
import { type ApiResponse, classifyStatus, describeResponse, failureWithoutResponse } from "../httpStatus.ts";
import { redactWithNames } from "../redact.ts";
import { editOutcome, paceOf } from "./edit.ts";

const TIMEOUT_MS = 30_000;

/** Creates the channel for Telegram's Bot API. Its paths contain the token, so that no path may be logged or returned. */
export function telegramChannel(settings: NonNullable<Config["channels"]["telegram"]>): Channel {
  const endpoint = createEndpoints("channels.telegram.apiUrl", settings.apiUrl);
  /** New ids of groups that became supergroups. */
  const movedChats = new Map<string, string>();
  const callApi = (method: "GET" | "POST", name: string, body: object | undefined, signal: AbortSignal) =>
    sendRequest(
      { method, ...endpoint(`/bot${settings.botToken}/${name}`), ...(body && { body }), timeoutMs: TIMEOUT_MS },
      signal,
    );
  const classify = (response: ApiResponse, chat: string, text: string) =>
    classifyResponse(response, { isGroup: !/^\d/.test(chat), names: [chat], secrets: [settings.botToken, text] });
  const textFields = (text: string, plain: boolean) => ({
    text,
    ...(!plain && { parse_mode: "HTML" }),
    // A preview makes Telegram's servers open the address, which a manipulated agent could use to leak data.
    link_preview_options: { is_disabled: true },
  });
  return {
    style: { dialect: "telegram-html", limit: 4_096, unit: "utf16" },
    idempotentForMs: 0,
    async send({ to, text, plain, live }, signal) {
      const [, chat, topic] = TELEGRAM_RECIPIENT.exec(to.trim()) ?? [];
      if (chat === undefined) {
        return { kind: "gone", reason: "This is not a Telegram recipient: use a chat id, @channel or chat:topic." };
      }
      const post = async (chatId: string): Promise<SendOutcome | { kind: "moved"; to: string }> => {
        const message = {
          chat_id: chatId,
          ...(topic && { message_thread_id: Number(topic) }),
          ...textFields(text, plain),
          ...(live && { disable_notification: true }),
        };
        const response = await callApi("POST", "sendMessage", message, signal);
        return response.kind === "response" ? classify(response, chatId, text) : failureWithoutResponse(response);
      };
      const result = await post(movedChats.get(chat) ?? chat);
      if (result.kind !== "moved") return result;
      movedChats.set(chat, result.to);
      const again = await post(result.to);
      return again.kind === "moved" ? { kind: "gone", reason: "Telegram reports that the group moved twice." } : again;
    },
    editing: {
      paceOf,
      async edit({ to, text, plain }, id, signal) {
        const [, given = ""] = TELEGRAM_RECIPIENT.exec(to.trim()) ?? [];
        const chat = movedChats.get(given) ?? given;
        const message = { chat_id: chat, message_id: Number(id), ...textFields(text, plain) };
        const response = await callApi("POST", "editMessageText", message, signal);
        if (response.kind !== "response") return failureWithoutResponse(response);
        return editOutcome(response, id, (one) => classify(one, chat, text));
      },
    },
    async check(signal) {
      const response = await callApi("GET", "getMe", undefined, signal);
      if (response.kind !== "response") return { ok: false, detail: response.reason };
      const { username } = response.json?.result ?? {};
      if (response.json?.ok === true && typeof username === "string") {
        return { ok: true, detail: `sends as @${excerpt(username)}` };
      }
      const result = classify(response, "", "");
      return { ok: false, detail: "reason" in result ? result.reason : "Telegram's answer contains no bot." };
    },
  };
}

/**
 * Matches descriptions of a 400 that are about the chat; all others are about the message. Telegram returns no codes, only
 * these words: those of its own server (tdlib/telegram-bot-api), and in capitals those of the servers behind it.
 */
const CHAT_ERROR =
  /\b((chat|user|channel|peer|thread|topic|member) not found|rights|deactivated|upgraded|chat_id|chat identifier|(CHAT|CHANNEL|PEER|USER|INPUT_USER|TOPIC|ALLOW_PAYMENT)_)/;
/** Matches an error that quotes the message, and may therefore contain any words. */
const PARSE_ERROR = /^(Bad Request: )?can't parse entities/;

/** The facts about a message that classifying its response needs. */
interface MessageContext {
  /** Whether the chat is a group or a channel. */
  readonly isGroup: boolean;
  /** Names of the chat that must not appear in a reason. */
  readonly names: readonly string[];
  /** Texts that must not appear in a reason. */
  readonly secrets: readonly string[];
}

/** Classifies a response of the Bot API to a message. `moved` means that the group became a supergroup with another id. */
function classifyResponse(response: ApiResponse, context: MessageContext): SendOutcome | { kind: "moved"; to: string } {
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
