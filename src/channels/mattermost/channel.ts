import { trimSlashes } from "../../shared/address.ts";
import { type Clock, systemClock } from "../../shared/clock.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import type { Channel } from "../channel.ts";
import { asker, inWords } from "../http.ts";
import { unanswered } from "../httpStatus.ts";
import { judgeAnswer } from "./errors.ts";
import { letterByLetter } from "./plain.ts";
import { channelFinder, readRecipient } from "./recipient.ts";

/** Half as long as a key is remembered: a try that was given up is made again in time to be known. */
const TIMEOUT_MS = 15_000;

/**
 * Mattermost, through its REST API. A post of the same key (`pending_post_id`) within 30 seconds is answered with the one
 * that is there.
 */
export function mattermostChannel(
  settings: NonNullable<Config["channels"]["mattermost"]>,
  clock: Clock = systemClock,
): Channel {
  const headers = { Authorization: `Bearer ${settings.botToken}` };
  const ask = asker(`${trimSlashes(settings.apiUrl)}/api/v4`, headers, TIMEOUT_MS);
  const channels = channelFinder(ask, clock);
  return {
    style: { dialect: "markdown", limit: settings.maxPostLength, unit: "runes" },
    idempotentForMs: 30_000,
    async send({ to, text, plain, key }, signal) {
      const recipient = readRecipient(to);
      if (!recipient) {
        return {
          kind: "gone",
          reason: "No recipient of Mattermost: give a channel's id, user:ID, @name or team/channel.",
        };
      }
      const channel = await channels.find(recipient.place, signal);
      if (channel.kind !== "found") return channel;
      const post = {
        channel_id: channel.id,
        message: plain ? letterByLetter(text, settings.maxPostLength) : text,
        ...(recipient.rootId && { root_id: recipient.rootId }),
        pending_post_id: key,
      };
      const answer = await ask("POST", "/posts", post, signal);
      if (answer.kind !== "answer") return unanswered(answer);
      const result = judgeAnswer(answer);
      if (result.kind === "gone") channels.forget(recipient.place);
      return result;
    },
    async check(signal) {
      const answer = await ask("GET", "/users/me", undefined, signal);
      if (answer.kind !== "answer") return { ok: false, detail: answer.reason };
      const { username } = answer.json ?? {};
      if (answer.status === 200 && typeof username === "string")
        return { ok: true, detail: `it posts as @${inWords(username)}` };
      const result = judgeAnswer(answer);
      return { ok: false, detail: result.kind === "sent" ? "Mattermost's answer names no user." : result.reason };
    },
  };
}
