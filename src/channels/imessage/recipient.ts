import { hasTrunkZero, WITH_TRUNK_ZERO } from "../trunkZero.ts";

/** Somebody, or a chat that is there already. */
export type ImessageRecipient =
  | {
      readonly kind: "address";
      readonly address: string;
      readonly service: "iMessage" | "SMS" | "any";
      readonly guid: string;
    }
  | { readonly kind: "chat"; readonly guid: string };

/** None of a shell's or AppleScript's: BlueBubbles puts a chat's guid in a script, and that in a command, as it is. */
const GUID = /^(?<service>iMessage|SMS|RCS|any);(?<kind>[-+]);(?<id>[^\s"$`\\;]+)$/i;
const MAIL = /^[^\s"$`\\;@]+@[^\s"$`\\;@]+$/;
const NUMBER = /^\+?\d{3,15}$/;

/**
 * A chat's guid such as `iMessage;-;+491…` (with one) or `iMessage;+;chat1…` (a group), a number, or a mail address.
 * @returns nothing for anything else, above all a name: Messages would look in the contacts for whom it may mean
 */
export function readRecipient(to: string): ImessageRecipient | undefined {
  const trimmed = to.trim();
  const groups = GUID.exec(trimmed)?.groups;
  if (groups) {
    const { service = "", kind, id = "" } = groups;
    if (kind === "+") return { kind: "chat", guid: trimmed };
    return { kind: "address", address: id, service: serviceOf(service), guid: trimmed };
  }
  // Of a mail address nothing may be left out: it would be somebody else's.
  const number = hasTrunkZero(trimmed) ? "" : trimmed.replace(/[\s().-]/g, "");
  const address = MAIL.test(trimmed) ? trimmed : NUMBER.test(number) ? number : undefined;
  if (address === undefined) return undefined;
  return { kind: "address", address, service: "any", guid: `iMessage;-;${address}` };
}

/** What a service may call a recipient by. */
export const namesOf = (recipient: ImessageRecipient): readonly string[] =>
  recipient.kind === "address" ? [recipient.guid, recipient.address] : [recipient.guid];

function serviceOf(prefix: string): "iMessage" | "SMS" | "any" {
  const name = prefix.toLowerCase();
  if (name === "imessage") return "iMessage";
  return name === "sms" ? "SMS" : "any";
}

const INVALID_RECIPIENT = {
  kind: "gone",
  reason: "No recipient of iMessage: give a number with its country code (+…), a mail address, or a chat's guid.",
} as const;

/** Why `readRecipient` makes nothing of it. */
export const invalidRecipient = (to: string) => (hasTrunkZero(to) ? WITH_TRUNK_ZERO : INVALID_RECIPIENT);
