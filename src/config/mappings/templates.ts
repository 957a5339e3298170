import type { CHANNELS } from "../../shared/channelNames.ts";
import { GMAIL_SESSIONS, sessionKeyFault } from "../../shared/sessionKey.ts";
import { parseTemplate, type Template, TemplateError } from "../../shared/text/template.ts";
import { recipientFault } from "../channels/recipients.ts";

/** The keys of a mapping that contain a template. */
export const TEMPLATES = ["name", "sessionKey", "messageTemplate", "textTemplate", "to"] as const;

/** The templates of a mapping, and the keys on which their faults depend. */
type Templates = { readonly [key in (typeof TEMPLATES)[number]]?: string } & {
  readonly channel: (typeof CHANNELS)[number] | "last";
  readonly transform?: unknown;
};

/** The templates that must not be blank without a transform, because nothing else provides their text. */
const NOT_BLANK: readonly string[] = ["messageTemplate", "textTemplate"];

/** Returns a sentence, beginning with the key, for each template that cannot be used. */
export function templateFaults(mapping: Templates): string[] {
  return TEMPLATES.flatMap((key) => {
    const text = mapping[key];
    if (text === undefined) return [];
    const parsed = parsedOrFault(text);
    if (typeof parsed === "string") return [`${key}: ${parsed}`];
    return NOT_BLANK.includes(key) && !mapping.transform && isBlank(parsed) ? [`${key} must not be blank`] : [];
  });
}

const isBlank = (template: Template) => template.every((part) => typeof part === "string" && part.trim() === "");

function parsedOrFault(text: string): Template | string {
  try {
    return parseTemplate(text);
  } catch (error) {
    if (error instanceof TemplateError) return error.message;
    throw error;
  }
}

/** Checks a recipient without a template. One with a template is known when its values are. */
export function recipientFaultOf({ channel, to = "" }: Templates): string | false | undefined {
  const parsed = parsedOrFault(to);
  if (channel === "last" || typeof parsed === "string" || isBlank(parsed)) return false;
  const fault = parsed.every((part) => typeof part === "string") && recipientFault(channel, parsed.join(""));
  return fault && `to ${fault}`;
}

/** Checks the text before the first value of a template. The complete key is checked when its values are known. */
export function sessionKeyFaults(
  sessionKey: string | undefined,
  prefixes: readonly string[] | undefined,
): (string | false)[] {
  const parsed = sessionKey === undefined ? [] : parsedOrFault(sessionKey);
  const [first, second] = typeof parsed === "string" ? [] : parsed;
  if (typeof first !== "string") return [];
  if (first.startsWith(GMAIL_SESSIONS)) return [`sessionKey ${sessionKeyFault(first, prefixes)}`];
  const fault =
    second === undefined || !prefixes?.some((prefix) => prefix.startsWith(first))
      ? sessionKeyFault(first, prefixes)
      : null;
  return [fault !== null && (second === undefined || prefixes !== undefined) && `sessionKey ${fault}`];
}
