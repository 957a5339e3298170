import type { Config } from "../../config/config.ts";
import { TELEGRAM_RECIPIENT } from "../../shared/recipients/chats.ts";
import type { Channel, MessageButton, OutgoingMessage, SendOutcome } from "../channel.ts";
import { excerpt } from "../http.ts";
import { type ApiResponse, failureWithoutResponse, isAway } from "../httpStatus.ts";
import { countPeople } from "../inbound.ts";
import { telegramCaller } from "./api.ts";
import { editOutcome, paceOf } from "./edit.ts";
import { classifyResponse } from "./errors.ts";
import { telegramRefs } from "./inbound.ts";
import { webhookUrl } from "./webhook.ts";

/** Time limit of an answer to a press: the person's app waits for it. */
const PRESS_TIMEOUT_MS = 10_000;
/** Maximum characters of an answer to a press. */
const MAX_PRESS_CHARS = 200;

/** Creates the channel for Telegram's Bot API. */
export function telegramChannel(settings: NonNullable<Config["channels"]["telegram"]>, hooksUrl?: string): Channel {
  const callApi = telegramCaller(settings);
  /** New ids of groups that became supergroups. */
  const movedChats = new Map<string, string>();
  const classify = (response: ApiResponse, chat: string, text: string) =>
    classifyResponse(response, { isGroup: !/^\d/.test(chat), names: [chat], secrets: [settings.botToken, text] });
  return {
    style: { dialect: "telegram-html", limit: 4_096, unit: "utf16" },
    idempotentForMs: 0,
    async send({ to, ...message }, signal) {
      const [, chat, topic] = TELEGRAM_RECIPIENT.exec(to.trim()) ?? [];
      if (chat === undefined) {
        return { kind: "gone", reason: "This is not a Telegram recipient: use a chat id, @channel or chat:topic." };
      }
      const post = async (chatId: string): Promise<SendOutcome | { kind: "moved"; to: string }> => {
        const body = {
          chat_id: chatId,
          ...(topic && { message_thread_id: Number(topic) }),
          ...textFields(message),
          ...(message.live && { disable_notification: true }),
        };
        const response = await callApi("POST", "sendMessage", body, signal);
        if (response.kind !== "response") return failureWithoutResponse(response);
        const outcome = classify(response, chatId, message.text);
        if (outcome.kind !== "sent" || !settings.allowFrom) return outcome;
        return { ...outcome, refs: telegramRefs(response.json.result, topic) };
      };
      const result = await post(movedChats.get(chat) ?? chat);
      if (result.kind !== "moved") return result;
      movedChats.set(chat, result.to);
      const again = await post(result.to);
      return again.kind === "moved" ? { kind: "gone", reason: "Telegram reports that the group moved twice." } : again;
    },
    editing: {
      paceOf,
      async edit({ to, ...message }, id, signal) {
        const [, given = ""] = TELEGRAM_RECIPIENT.exec(to.trim()) ?? [];
        const chat = movedChats.get(given) ?? given;
        const body = { chat_id: chat, message_id: Number(id), ...textFields(message) };
        const response = await callApi("POST", "editMessageText", body, signal);
        if (response.kind !== "response") return failureWithoutResponse(response);
        return editOutcome(response, id, (one) => classify(one, chat, message.text));
      },
    },
    async answerPress({ reply, text }, signal) {
      const body = { callback_query_id: reply, text: text.slice(0, MAX_PRESS_CHARS).toWellFormed(), show_alert: true };
      const response = await callApi("POST", "answerCallbackQuery", body, signal, PRESS_TIMEOUT_MS);
      return !isAway(response);
    },
    async check(signal) {
      const response = await callApi("GET", "getMe", undefined, signal);
      if (response.kind !== "response") return { ok: false, detail: response.reason };
      const { username } = response.json?.result ?? {};
      if (response.json?.ok === true && typeof username === "string") {
        return withInbound(`sends as @${excerpt(username)}`, signal);
      }
      const result = classify(response, "", "");
      return { ok: false, detail: "reason" in result ? result.reason : "Telegram's answer contains no bot." };
    },
  };

  /** Returns the result of a check, with whether answers arrive. */
  async function withInbound(sends: string, signal: AbortSignal): Promise<{ ok: boolean; detail: string }> {
    if (!settings.allowFrom) {
      return {
        ok: true,
        detail: `${sends}; without buttons and replies, because channels.telegram.allowFrom is not set`,
      };
    }
    const response = await callApi("GET", "getWebhookInfo", undefined, signal);
    const info = response.kind === "response" && response.json?.ok === true ? response.json.result : undefined;
    if (typeof info?.url !== "string") return { ok: false, detail: `${sends}, but does not tell how it sends updates` };
    const own = hooksUrl === undefined ? undefined : webhookUrl(hooksUrl);
    const isWebhook = settings.inbound === "webhook";
    // The worker sets or removes the webhook of this service soon.
    if (info.url !== "" && info.url !== own) {
      const fault = isWebhook
        ? "another webhook is set for this bot. Stop the program that sets it"
        : "a webhook is set for this bot. Call deleteWebhook";
      const detail = `${sends}, but presses and replies do not arrive: ${fault}, or use another bot.`;
      return { ok: false, detail };
    }
    const lastError = isWebhook && info.pending_update_count > 0 ? info.last_error_message : undefined;
    if (typeof lastError === "string") {
      return { ok: false, detail: `${sends}, but cannot send updates to ${own}: ${excerpt(lastError)}` };
    }
    return { ok: true, detail: `${sends}; with buttons and replies for ${countPeople(settings.allowFrom)}` };
  }
}

/** Returns the fields of a text. Without buttons, an edit removes those that the message had. */
const textFields = ({ text, plain, buttons = [] }: Pick<OutgoingMessage, "text" | "plain" | "buttons">) => ({
  text,
  ...(!plain && { parse_mode: "HTML" }),
  // A preview makes Telegram's servers open the address, which a manipulated agent could use to leak data.
  link_preview_options: { is_disabled: true },
  ...(buttons.length > 0 && { reply_markup: { inline_keyboard: [buttons.map(inlineButton)] } }),
});

const inlineButton = (button: MessageButton) => ({
  text: button.label,
  ...("press" in button ? { callback_data: button.press } : { url: button.url }),
});
