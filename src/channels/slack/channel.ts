import { trimSlashes } from "../../shared/address.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import type { Channel } from "../channel.ts";
import { directChannels } from "../directChannels.ts";
import { askApi, inWords } from "../http.ts";
import { judgeStatus, unanswered } from "../httpStatus.ts";
import { judgeRefusal, refusalOf } from "./errors.ts";

const TIMEOUT_MS = 30_000;

/** A channel's id or `#name`, or a user's id; and the thread in it. */
const RECIPIENT = /^(#?[^\s:#]{1,80})(?::(\d{1,12}\.\d{1,12}))?$/;
const USER = /^[UW][A-Z0-9]{2,}$/;

/** Beyond this, Slack cuts a `text` off. */
const MAX_TEXT = 40_000;

/** Slack, through its Web API. It knows no idempotency keys: ours is in the message's metadata, for whoever looks after it. */
export function slackChannel(settings: NonNullable<Config["channels"]["slack"]>): Channel {
  const base = trimSlashes(settings.apiUrl);
  const ask = (method: string, body: object, signal: AbortSignal) => {
    const headers = { Authorization: `Bearer ${settings.botToken}` };
    return askApi({ method: "POST", url: `${base}/${method}`, headers, body, timeoutMs: TIMEOUT_MS }, signal);
  };
  const direct = directChannels(async (user, signal) => {
    const answer = await ask("conversations.open", { users: user }, signal);
    if (answer.kind !== "answer") return unanswered(answer);
    const id = answer.json?.channel?.id;
    if (answer.json?.ok === true && typeof id === "string") return { kind: "opened", id };
    const refusal = refusalOf(answer);
    const failure = refusal ? judgeRefusal(answer, refusal) : judgeStatus("Slack", answer);
    // It lacks im:write, say: no reason to stop what goes to channels.
    return refusal === "missing_scope" ? { kind: "gone", reason: failure.reason } : failure;
  });
  return {
    style: { dialect: "slack", limit: 12_000, unit: "utf16" },
    idempotentForMs: 0,
    async send({ to, text, plain, key }, signal) {
      const [, place = "", thread] = RECIPIENT.exec(to.trim()) ?? [];
      if (place === "") return { kind: "gone", reason: "No recipient of Slack: give the id of a channel or a user." };
      const isUser = USER.test(place);
      const opened = isUser ? await direct.find(place, signal) : ({ kind: "opened", id: place } as const);
      if (opened.kind !== "opened") return opened;
      const message = {
        channel: opened.id,
        ...(thread && { thread_ts: thread }),
        ...(plain ? letterByLetter(text) : asMarkdown(text, key)),
        // To unfurl has Slack's servers open the address, whatever the agent was talked into putting in it.
        unfurl_links: false,
        unfurl_media: false,
      };
      const answer = await ask("chat.postMessage", message, signal);
      if (answer.kind !== "answer") return unanswered(answer);
      const { ok, channel, ts } = answer.json ?? {};
      if (ok === true && typeof channel === "string" && typeof ts === "string") {
        return { kind: "sent", id: `${channel}:${ts}` };
      }
      const refusal = refusalOf(answer);
      if (!refusal) return judgeStatus("Slack", answer);
      if (isUser && refusal === "channel_not_found") direct.forget(place);
      return judgeRefusal(answer, refusal);
    },
    async check(signal) {
      const answer = await ask("auth.test", {}, signal);
      if (answer.kind !== "answer") return { ok: false, detail: answer.reason };
      const { ok, user, team } = answer.json ?? {};
      if (ok === true && typeof user === "string") {
        return {
          ok: true,
          detail: `it posts as @${inWords(user)}${typeof team === "string" ? ` in ${inWords(team)}` : ""}`,
        };
      }
      const refusal = refusalOf(answer);
      const { reason } = refusal ? judgeRefusal(answer, refusal) : judgeStatus("Slack", answer);
      return { ok: false, detail: answer.status === 200 && !refusal ? "Slack's answer names no bot." : reason };
    },
  };
}

const asMarkdown = (text: string, key: string) => ({
  markdown_text: text,
  metadata: { event_type: "signalbox", event_payload: { key } },
});

/**
 * Without metadata: a workspace that refuses those still gets the words. Where entities would make it too long, a space
 * without width keeps `<` and `&` from being the beginning of anything.
 */
function letterByLetter(text: string): object {
  const escaped = text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;");
  const shown = escaped.length > MAX_TEXT ? text.replace(/[<&]/g, "$&\u200b") : escaped;
  return { text: shown, mrkdwn: false, parse: "none" };
}
