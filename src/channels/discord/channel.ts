import { hash } from "node:crypto";
import { trimSlashes } from "../../shared/address.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { version } from "../../shared/version.ts";
import type { Channel } from "../channel.ts";
import { directChannels } from "../directChannels.ts";
import { asker, inWords } from "../http.ts";
import { unanswered } from "../httpStatus.ts";
import { judgeAnswer } from "./errors.ts";
import { letterByLetter } from "./plain.ts";

const TIMEOUT_MS = 30_000;
const LIMIT = 2_000;

/** A channel's or a thread's id, or a user's; all of them snowflakes, which no number holds. */
const RECIPIENT = /^(user:)?(\d{5,20})$/;

/** Discord wants this form; without it, Cloudflare may block what comes. */
const USER_AGENT = `DiscordBot (https://example.com/signalbox, ${version})`;

/** The flag that keeps addresses from being opened by Discord's servers, whatever the agent was talked into putting in them. */
const SUPPRESS_EMBEDS = 1 << 2;

/** Discord, through its REST API. A message of the same nonce within a few minutes is answered with the one that is there. */
export function discordChannel(settings: NonNullable<Config["channels"]["discord"]>): Channel {
  const headers = { Authorization: `Bot ${settings.botToken}`, "User-Agent": USER_AGENT };
  const ask = asker(trimSlashes(settings.apiUrl), headers, TIMEOUT_MS);
  const direct = directChannels(async (user, signal) => {
    const answer = await ask("POST", "/users/@me/channels", { recipient_id: user }, signal);
    if (answer.kind !== "answer") return unanswered(answer);
    const result = judgeAnswer(answer);
    return result.kind === "sent" ? { kind: "opened", id: result.id } : result;
  });
  return {
    style: { dialect: "discord", limit: LIMIT, unit: "utf16" },
    idempotentForMs: 120_000,
    async send({ to, text, plain, key }, signal) {
      const [, isUser, id = ""] = RECIPIENT.exec(to.trim()) ?? [];
      if (id === "") return { kind: "gone", reason: "No recipient of Discord: give a channel's id or user:ID." };
      const opened = isUser ? await direct.find(id, signal) : ({ kind: "opened", id } as const);
      if (opened.kind !== "opened") return opened;
      const message = {
        content: plain ? letterByLetter(text, LIMIT) : text,
        nonce: nonceOf(key),
        enforce_nonce: true,
        allowed_mentions: { parse: [] },
        flags: SUPPRESS_EMBEDS,
      };
      const answer = await ask("POST", `/channels/${opened.id}/messages`, message, signal);
      if (answer.kind !== "answer") return unanswered(answer);
      const result = judgeAnswer(answer);
      if (isUser && result.kind === "gone") direct.forget(id);
      return result;
    },
    async check(signal) {
      const answer = await ask("GET", "/users/@me", undefined, signal);
      if (answer.kind !== "answer") return { ok: false, detail: answer.reason };
      const { username } = answer.json ?? {};
      if (answer.status === 200 && typeof username === "string") {
        return { ok: true, detail: `it posts as ${inWords(username)}` };
      }
      const result = judgeAnswer(answer);
      return { ok: false, detail: "reason" in result ? result.reason : "Discord's answer names no user." };
    },
  };
}

/** The key in the 25 characters that a nonce may have. */
const nonceOf = (key: string) => hash("sha256", key, "base64url").slice(0, 25);
