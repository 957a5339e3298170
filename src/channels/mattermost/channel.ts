import type { Config } from "../../config/config.ts";
import { trimSlashes } from "../../shared/address.ts";
import { type Clock, systemClock } from "../../shared/clock.ts";
import type { Channel } from "../channel.ts";
import { createApiCaller, excerpt } from "../http.ts";
import { failureWithoutResponse } from "../httpStatus.ts";
import { neutralizeMentions } from "../markdown/mentions.ts";
import { editOutcome, paceOf } from "./edit.ts";
import { classifyResponse } from "./errors.ts";
import { createChannelFinder, readRecipient } from "./recipient.ts";

/** Half the time for which Mattermost remembers a key, so that a retry after a time-out is still recognized. */
const TIMEOUT_MS = 15_000;

/**
 * Creates the channel for Mattermost's REST API. Mattermost returns the existing post for a key (`pending_post_id`) that is
 * repeated within 30 seconds.
 */
export function mattermostChannel(
  settings: NonNullable<Config["channels"]["mattermost"]>,
  clock: Clock = systemClock,
): Channel {
  const headers = { Authorization: `Bearer ${settings.botToken}` };
  const callApi = createApiCaller(`${trimSlashes(settings.apiUrl)}/api/v4`, headers, TIMEOUT_MS);
  const channels = createChannelFinder(callApi, clock);
  return {
    style: { dialect: "markdown", limit: settings.maxPostLength, unit: "runes" },
    idempotentForMs: 30_000,
    async send({ to, text, plain, key }, signal) {
      const recipient = readRecipient(to);
      if (!recipient) {
        return {
          kind: "gone",
          reason: "This is not a Mattermost recipient: use a channel id, user:ID, @name or team/channel.",
        };
      }
      const channel = await channels.find(recipient.target, signal);
      if (channel.kind !== "found") return channel;
      const post = {
        channel_id: channel.id,
        message: plain ? escapeMarkdown(text, settings.maxPostLength) : text,
        ...(recipient.rootId && { root_id: recipient.rootId }),
        pending_post_id: key,
      };
      const response = await callApi("POST", "/posts", post, signal);
      if (response.kind !== "response") return failureWithoutResponse(response);
      const result = classifyResponse(response);
      if (result.kind === "gone") channels.forget(recipient.target);
      return result;
    },
    editing: {
      paceOf,
      async edit({ text, plain }, id, signal) {
        const post = { message: plain ? escapeMarkdown(text, settings.maxPostLength) : text };
        const response = await callApi("PUT", `/posts/${id}/patch`, post, signal);
        return response.kind === "response" ? editOutcome(response) : failureWithoutResponse(response);
      },
    },
    async check(signal) {
      const response = await callApi("GET", "/users/me", undefined, signal);
      if (response.kind !== "response") return { ok: false, detail: response.reason };
      const { username } = response.json ?? {};
      if (response.status === 200 && typeof username === "string")
        return { ok: true, detail: `posts as @${excerpt(username)}` };
      const result = classifyResponse(response);
      return { ok: false, detail: result.kind === "sent" ? "Mattermost's answer contains no user." : result.reason };
    },
  };
}

/** Matches what Mattermost turns into a link; a backslash would become part of the address. */
const ADDRESS = "(?:[a-z][a-z\\d+.-]{0,31}:\\/\\/|www\\.|[\\p{L}\\d.-]{1,100}\\.\\p{L}{2,4}\\/)\\S+";
const SPECIAL = new RegExp(`${ADDRESS}|[\\\\\`*_~|[]|<|&(?=#?\\w+;)`, "giu");

/**
 * Escapes a text so that Mattermost shows it unchanged, without Markdown. Returns the text unescaped if the result would
 * exceed `limit` runes. Uses only escapes that the web client's own parser and CommonMark (used by the apps) share:
 * backslashes where both support them, else entities. Mentions, hashtags and `:emoji:` cannot be escaped. A name may end at a
 * backslash, so that an escaped `@here_x` would mention everybody; `neutralizeMentions` prevents that.
 */
export function escapeMarkdown(text: string, limit: number): string {
  const lines = text.split("\n").map((line) => escapeStart(line.replace(SPECIAL, escapeCharacter)));
  const escaped = neutralizeMentions(lines.join("\n"), "markdown");
  return [...escaped].length > limit ? text : escaped;
}

function escapeCharacter(found: string, at: number, line: string): string {
  if (found.length > 1) return found;
  if (found === "<") return "&lt;";
  if (found === "&") return "&amp;";
  // The web client shows both backslashes of `\\` before a letter.
  return found === "\\" && /\w/.test(line[at + 1] ?? "") ? found : `\\${found}`;
}

/** Escapes the beginning of a line that would start a heading, a quote, a list or a block of code. */
function escapeStart(line: string): string {
  return line
    .replace(/^( *)([#>+-])/, "$1\\$2")
    .replace(/^( *\d+)([.)])/, "$1\\$2")
    .replace(/^( *)=(?==*\s*$)/, "$1&#61;")
    .replace(/^(?: {4}| {0,3}\t)/, (indent) => `&nbsp;${indent.slice(1)}`);
}
