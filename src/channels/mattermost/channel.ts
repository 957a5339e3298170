import type { Config } from "../../config/config.ts";
import { trimSlashes } from "../../shared/address.ts";
import { type Clock, systemClock } from "../../shared/clock.ts";
import type { Channel } from "../channel.ts";
import { createApiCaller, excerpt } from "../http.ts";
import { failureWithoutResponse } from "../httpStatus.ts";
import { classifyResponse } from "./errors.ts";
import { escapeMarkdown } from "./escapeMarkdown.ts";
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
