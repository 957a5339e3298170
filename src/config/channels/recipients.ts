import {
  DISCORD_RECIPIENT,
  MATTERMOST_RECIPIENT,
  SLACK_RECIPIENT,
  TELEGRAM_RECIPIENT,
} from "../../shared/recipients/chats.ts";
import { readRecipient as readImessage } from "../../shared/recipients/imessage.ts";
import { readPhoneNumber } from "../../shared/recipients/phoneNumber.ts";
import { readRecipient as readSignal } from "../../shared/recipients/signal.ts";
import { isMailAddress } from "./channels.ts";

const TOPIC = /^[\w-]{1,64}$/;

/** Returns whether a text is a topic of ntfy. */
export const isNtfyTopic = (text: string): boolean => TOPIC.test(text);

/**
 * Returns whether a text can be the id of a conversation of Microsoft Teams. Ill-formed text cannot be encoded into a path, and
 * dots alone would change the path.
 */
export const isConversationId = (text: string): boolean => text.isWellFormed() && !/^\.{0,2}$/.test(text);

type Form = readonly [isForm: (text: string) => boolean, fault: string];

/** The forms of recipients, which the channels check too before they send. */
const FORMS: Readonly<Record<string, Form | undefined>> = {
  telegram: [(text) => TELEGRAM_RECIPIENT.test(text), "must be a chat id, @channel or chat:topic"],
  slack: [(text) => SLACK_RECIPIENT.test(text), "must be the id or #name of a channel, or the id of a user"],
  discord: [(text) => DISCORD_RECIPIENT.test(text), "must be a channel id or user:ID"],
  mattermost: [(text) => MATTERMOST_RECIPIENT.test(text), "must be a channel id, user:ID, @name or team/channel"],
  msteams: [isConversationId, "must be the id of a conversation"],
  whatsapp: [(text) => readPhoneNumber(text) !== undefined, "must be a number with its country code: +49 151 00000000"],
  signal: [
    (text) => readSignal(text) !== undefined,
    "must be a number with its country code (+…), a UUID, group.… or u:name",
  ],
  imessage: [
    (text) => readImessage(text) !== undefined,
    "must be a number with its country code (+…), a mail address, or a chat's guid",
  ],
  ntfy: [isNtfyTopic, "must be an ntfy topic: up to 64 letters, digits, - and _"],
  email: [isMailAddress, "must be a mail address, such as ops@example.com"],
};

/** Returns what is wrong with a recipient to whom the channel can never send; undefined for one that may exist. */
export function recipientFault(channel: string, to: string): string | undefined {
  const [isForm, fault] = FORMS[channel] ?? [];
  return isForm && !isForm(to.trim()) ? fault : undefined;
}
