import { hash } from "node:crypto";
import type { Config } from "../../config/config.ts";
import { trimSlashes } from "../../shared/address.ts";
import { version } from "../../shared/process/version.ts";
import { DISCORD_RECIPIENT } from "../../shared/recipients/chats.ts";
import type { Channel, MessageButton, OutgoingMessage } from "../channel.ts";
import { createDirectChannelCache } from "../directChannelCache.ts";
import { createApiCaller, excerpt } from "../http.ts";
import { describeResponse, failureWithoutResponse, isAway } from "../httpStatus.ts";
import { countPeople } from "../inbound.ts";
import { editOutcome, paceOf } from "./edit.ts";
import { classifyResponse } from "./errors.ts";
import { discordRef } from "./inbound.ts";

const TIMEOUT_MS = 30_000;
const LIMIT = 2_000;

/** Matches addresses and special characters. Addresses match as a whole: a backslash would become part of the link. */
const SPECIAL = /https?:\/\/[^\s<]+|[\\*_~`|[<]|@(?=everyone|here)/g;

/** Discord requires this form of user agent; Cloudflare may block requests with others. */
const USER_AGENT = `DiscordBot (https://example.com/signalbox, ${version})`;

/** Sends a message without a push notification. */
const SUPPRESS_NOTIFICATIONS = 1 << 12;
/** Keeps Discord's servers from opening addresses in a message, which a manipulated agent could use to leak data. */
const SUPPRESS_EMBEDS = 1 << 2;
/** Shows a message only to the person who has pressed. */
const EPHEMERAL = 1 << 6;

const ACTION_ROW = 1;
const BUTTON = 2;
/** The colours of buttons: grey, and that of one that opens a page. */
const [SECONDARY, LINK] = [2, 5];

/** Creates the channel for Discord's REST API, which returns the existing message for a nonce repeated within a few minutes. */
export function discordChannel(settings: NonNullable<Config["channels"]["discord"]>, hooksUrl?: string): Channel {
  const headers = { Authorization: `Bot ${settings.botToken}`, "User-Agent": USER_AGENT };
  const callApi = createApiCaller(trimSlashes(settings.apiUrl), headers, TIMEOUT_MS);
  const direct = createDirectChannelCache(async (user, signal) => {
    const response = await callApi("POST", "/users/@me/channels", { recipient_id: user }, signal);
    if (response.kind !== "response") return failureWithoutResponse(response);
    const result = classifyResponse(response);
    return result.kind === "sent" ? { kind: "opened", id: result.id } : result;
  });
  return {
    style: { dialect: "discord", limit: LIMIT, unit: "utf16" },
    idempotentForMs: 120_000,
    async send(outgoing, signal) {
      const { to, live, key, buttons } = outgoing;
      const [, isUser, id = ""] = DISCORD_RECIPIENT.exec(to.trim()) ?? [];
      if (id === "") return { kind: "gone", reason: "This is not a Discord recipient: use a channel id or user:ID." };
      const opened = isUser ? await direct.find(id, signal) : ({ kind: "opened", id } as const);
      if (opened.kind !== "opened") return opened;
      const message = {
        ...contentFields(outgoing),
        nonce: nonceOf(key),
        enforce_nonce: true,
        flags: SUPPRESS_EMBEDS | (live ? SUPPRESS_NOTIFICATIONS : 0),
      };
      const response = await callApi("POST", `/channels/${opened.id}/messages`, message, signal);
      if (response.kind !== "response") return failureWithoutResponse(response);
      const result = classifyResponse(response);
      if (isUser && result.kind === "gone") direct.forget(id);
      return result.kind === "sent" && buttons ? { ...result, refs: [discordRef(opened.id, result.id)] } : result;
    },
    editing: {
      paceOf,
      async edit(outgoing, messageId, signal) {
        const [, isUser, id = ""] = DISCORD_RECIPIENT.exec(outgoing.to.trim()) ?? [];
        const opened = isUser ? await direct.find(id, signal) : ({ kind: "opened", id } as const);
        if (opened.kind !== "opened") return opened;
        const message = { ...contentFields(outgoing), flags: SUPPRESS_EMBEDS };
        const response = await callApi("PATCH", `/channels/${opened.id}/messages/${messageId}`, message, signal);
        return response.kind === "response" ? editOutcome(response) : failureWithoutResponse(response);
      },
    },
    async answerPress({ reply, text }, signal) {
      const message = { ...contentFields({ text, plain: true }), flags: EPHEMERAL | SUPPRESS_EMBEDS };
      return !isAway(await callApi("POST", `/webhooks/${reply}`, message, signal));
    },
    async check(signal) {
      const response = await callApi("GET", "/users/@me", undefined, signal);
      if (response.kind !== "response") return { ok: false, detail: response.reason };
      const { username } = response.json ?? {};
      if (response.status === 200 && typeof username === "string") {
        return withPresses(`posts as ${excerpt(username)}`, signal);
      }
      const result = classifyResponse(response);
      return { ok: false, detail: "reason" in result ? result.reason : "Discord's answer contains no user." };
    },
  };

  /** Returns the result of a check, with whether presses arrive: the application has the key and the address for them. */
  async function withPresses(posts: string, signal: AbortSignal): Promise<{ ok: boolean; detail: string }> {
    const { allowFrom, publicKey } = settings;
    if (!allowFrom)
      return { ok: true, detail: `${posts}; without buttons, because channels.discord.allowFrom is not set` };
    const lacks = (problem: string) => ({ ok: false, detail: `${posts}, but presses do not arrive: ${problem}` });
    const response = await callApi("GET", "/applications/@me", undefined, signal);
    if (response.kind !== "response") return lacks(response.reason);
    const { verify_key: key, interactions_endpoint_url: url } = response.json ?? {};
    if (response.status !== 200) return lacks(`${describeResponse("Discord", response.status)}.`);
    if (key !== publicKey?.toLowerCase()) return lacks("channels.discord.publicKey is not that of the application.");
    const expected = hooksUrl === undefined ? undefined : `${hooksUrl}/discord`;
    if (typeof url !== "string" || (expected !== undefined && url !== expected)) {
      const address = expected ?? "the public address of this service with /discord below hooks.path";
      return lacks(`set the Interactions Endpoint URL of the application to ${address}.`);
    }
    return { ok: true, detail: `${posts}; with buttons for ${countPeople(allowFrom)}` };
  }
}

/** Returns the fields of a text. An empty list of buttons removes those that the message had. */
const contentFields = ({ text, plain, buttons }: Pick<OutgoingMessage, "text" | "plain" | "buttons">) => ({
  content: plain ? escapeMarkdown(text, LIMIT) : text,
  allowed_mentions: { parse: [] },
  ...(buttons && {
    components: buttons.length === 0 ? [] : [{ type: ACTION_ROW, components: buttons.map(component) }],
  }),
});

const component = (button: MessageButton) => ({
  type: BUTTON,
  label: button.label,
  ...("press" in button ? { style: SECONDARY, custom_id: button.press } : { style: LINK, url: button.url }),
});

/** Returns a hash of the key, as a nonce has at most 25 characters. */
const nonceOf = (key: string) => hash("sha256", key, "base64url").slice(0, 25);

/**
 * Escapes a text so that Discord shows it unchanged, without Markdown, mentions or emoji. Returns the text unescaped if the
 * result would exceed `limit`. Discord hides a backslash before anything but letters, digits and spaces.
 */
function escapeMarkdown(text: string, limit: number): string {
  const escaped = text
    .replace(SPECIAL, (found) => (found.length > 1 ? found : `\\${found}`))
    .replace(/^([^\S\n\r\u2028\u2029]*)([#>+-])/gm, "$1\\$2")
    .replace(/^([^\S\n\r\u2028\u2029]*\d+)([.)])/gm, "$1\\$2");
  return escaped.length > limit ? text : escaped;
}
