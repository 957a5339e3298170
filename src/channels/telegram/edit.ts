import type { Channel, MessageButton, OutgoingMessage, SendOutcome } from "../channel.ts";
import { type ApiResponse, failureWithoutResponse } from "../httpStatus.ts";
import type { TelegramCaller } from "./api.ts";

/** Matches the refusal of an edit that changes nothing. */
const UNCHANGED = /message is not modified/;
/** Matches the refusals of a message that was deleted, or that is not the bot's. */
const NO_MESSAGE = /message to edit not found|message can't be edited|MESSAGE_ID_INVALID/;

type Classify = (response: ApiResponse, chat: string, text: string) => SendOutcome | { kind: "moved"; to: string };

/** Returns the fields of a text in requests of the Bot API. */
export const textOf = ({ text, plain, buttons }: Pick<OutgoingMessage, "text" | "plain" | "buttons">) => ({
  text,
  ...(!plain && { parse_mode: "HTML" }),
  // A preview makes Telegram's servers open the address, which a manipulated agent could use to leak data.
  link_preview_options: { is_disabled: true },
  ...(buttons && buttons.length > 0 && { reply_markup: { inline_keyboard: [buttons.map(inlineButton)] } }),
});

const inlineButton = (button: MessageButton) => ({
  text: button.label,
  ...("press" in button ? { callback_data: button.press } : { url: button.url }),
});

/** Returns the function that edits a message. Without buttons, Telegram removes those that the message had. */
export const telegramEdit =
  (callApi: TelegramCaller, classify: Classify): NonNullable<Channel["edit"]> =>
  async ({ ref, ...message }, signal) => {
    const [chat = "", id = ""] = ref.split("/");
    const body = { chat_id: chat, message_id: Number(id), ...textOf(message) };
    const response = await callApi("POST", "editMessageText", body, signal);
    if (response.kind !== "response") return failureWithoutResponse(response);
    const { description } = response.json ?? {};
    if (response.status === 400 && UNCHANGED.test(description)) return { kind: "sent", id };
    const outcome = classify(response, chat, message.text);
    if (outcome.kind === "moved" || (response.status === 400 && NO_MESSAGE.test(description)))
      return { kind: "gone", reason: "Telegram no longer has the message." };
    return outcome;
  };
