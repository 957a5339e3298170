import { createPublicKey, type KeyObject } from "node:crypto";
import { readButtonData } from "../../shared/chatEvent.ts";
import { personName, type ReceivedAct } from "../inbound.ts";

// biome-ignore lint/suspicious/noExplicitAny: what Discord sends; each field that is read is checked
type Json = any;

/** The types of interactions, and of the responses to them. */
export const PING = 1;
const MESSAGE_COMPONENT = 3;
export const PONG = { type: 1 };
/** Takes a press without a message: the worker sends one to the person. */
export const DEFERRED_UPDATE = { type: 6 };

const isId = (value: unknown): value is string => typeof value === "string" && /^\d{1,20}$/.test(value);

/** Returns the key of an application from its hexadecimal form, 32 bytes. */
export const discordKey = (publicKey: string): KeyObject =>
  createPublicKey({
    key: { kty: "OKP", crv: "Ed25519", x: Buffer.from(publicKey, "hex").toString("base64url") },
    format: "jwk",
  });

/** Returns the name of a message: its channel and its id. */
export const discordRef = (channel: string, id: string): string => `${channel}/${id}`;

/** Reads the press of a button of a question; null for any other interaction. */
export function readDiscordPress(interaction: Json): ReceivedAct | null {
  const { id, type, application_id: application, token, member, user, channel_id, message, data } = interaction ?? {};
  const button = readButtonData(data?.custom_id);
  const person = member?.user ?? user; // in a server, and in a direct message
  if (type !== MESSAGE_COMPONENT || !button || person?.bot === true) return null;
  if (![id, application, channel_id, message?.id, person?.id].every(isId)) return null;
  if (typeof token !== "string" || !/^[\w.=-]{1,1024}$/.test(token)) return null;
  return {
    id,
    event: {
      kind: "press",
      person: { id: person.id, name: personName([person.global_name, person.username], person.id) },
      ...button,
      ref: discordRef(channel_id, message.id),
      reply: `${application}/${token}`,
    },
  };
}
