import { hasTrunkZero } from "./phoneNumber.ts";

/** The address of a person, or an existing chat. */
export type ImessageRecipient =
  | {
      readonly kind: "address";
      readonly address: string;
      readonly service: "iMessage" | "SMS" | "any";
      readonly guid: string;
    }
  | { readonly kind: "chat"; readonly guid: string };

/** Excludes special characters of shells and AppleScript: BlueBubbles inserts a guid unescaped into a script and a command. */
const GUID = /^(?<service>iMessage|SMS|RCS|any);(?<kind>[-+]);(?<id>[^\s"$`\\;]+)$/i;
const MAIL = /^[^\s"$`\\;@]+@[^\s"$`\\;@]+$/;
const NUMBER = /^\+?\d{3,15}$/;

/**
 * Parses a recipient: a chat's guid such as `iMessage;-;+491…` (one person) or `iMessage;+;chat1…` (a group), a number, or a
 * mail address. Returns undefined for anything else. Names are not accepted, as Messages would guess among the contacts.
 */
export function readRecipient(to: string): ImessageRecipient | undefined {
  const trimmed = to.trim();
  const groups = GUID.exec(trimmed)?.groups;
  if (groups) {
    const { service = "", kind, id = "" } = groups;
    if (kind === "+") return { kind: "chat", guid: trimmed };
    return { kind: "address", address: id, service: serviceOf(service), guid: trimmed };
  }
  // Characters are removed from numbers only: a mail address without them would belong to another person.
  const number = hasTrunkZero(trimmed) ? "" : trimmed.replace(/[\s().-]/g, "");
  const address = MAIL.test(trimmed) ? trimmed : NUMBER.test(number) ? number : undefined;
  if (address === undefined) return undefined;
  return { kind: "address", address, service: "any", guid: `iMessage;-;${address}` };
}

/** Returns the names that a service may use for a recipient, longer ones first. */
export const namesOf = (recipient: ImessageRecipient): readonly string[] =>
  recipient.kind === "address" ? [recipient.guid, recipient.address] : [recipient.guid];

function serviceOf(prefix: string): "iMessage" | "SMS" | "any" {
  const name = prefix.toLowerCase();
  if (name === "imessage") return "iMessage";
  return name === "sms" ? "SMS" : "any";
}
