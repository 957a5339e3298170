import type { CHANNELS } from "../../shared/channelNames.ts";
import { isMailAddress } from "./mailAddress.ts";

const TOPIC = /^[\w-]{1,64}$/;

/** Returns whether a text is a topic of ntfy. */
export const isNtfyTopic = (text: string): boolean => TOPIC.test(text);

const FORMS: { readonly [channel in (typeof CHANNELS)[number]]?: readonly [(text: string) => boolean, string] } = {
  ntfy: [isNtfyTopic, "must be an ntfy topic: up to 64 letters, digits, - and _"],
  email: [isMailAddress, "must be a mail address, such as ops@example.com"],
};

/** Returns what is wrong with a recipient to whom the channel can never send; undefined for one that may exist. */
export function recipientFault(channel: (typeof CHANNELS)[number], to: string): string | undefined {
  const [isForm, fault] = FORMS[channel] ?? [];
  return isForm && !isForm(to.trim()) ? fault : undefined;
}
