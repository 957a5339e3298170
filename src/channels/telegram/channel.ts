import type { Config } from "../../config/config.ts";
import type { Channel, SendOutcome } from "../channel.ts";
import { createEndpoints } from "../endpoint.ts";
import { excerpt, sendRequest } from "../http.ts";
import { type ApiResponse, failureWithoutResponse } from "../httpStatus.ts";
import { classifyResponse } from "./errors.ts";

const TIMEOUT_MS = 30_000;

/** The id or public name of a chat; optionally with a topic. */
const RECIPIENT = /^(-?\d{1,20}|@\w{1,64})(?::(\d{1,15}))?$/;

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
  return {
    style: { dialect: "telegram-html", limit: 4_096, unit: "utf16" },
    idempotentForMs: 0,
    async send({ to, text, plain }, signal) {
      const [, chat, topic] = RECIPIENT.exec(to.trim()) ?? [];
      if (chat === undefined) {
        return { kind: "gone", reason: "This is not a Telegram recipient: use a chat id, @channel or chat:topic." };
      }
      const post = async (chatId: string): Promise<SendOutcome | { kind: "moved"; to: string }> => {
        const message = {
          chat_id: chatId,
          ...(topic && { message_thread_id: Number(topic) }),
          text,
          ...(!plain && { parse_mode: "HTML" }),
          // A preview makes Telegram's servers open the address, which a manipulated agent could use to leak data.
          link_preview_options: { is_disabled: true },
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
