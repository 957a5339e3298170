import type { Config } from "../../config/config.ts";
import { trimSlashes } from "../../shared/address.ts";
import { SLACK_RECIPIENT } from "../../shared/recipients/chats.ts";
import type { Channel } from "../channel.ts";
import { createDirectChannelCache } from "../directChannelCache.ts";
import { excerpt, sendRequest } from "../http.ts";
import { classifyStatus, failureWithoutResponse, isAway } from "../httpStatus.ts";
import { countPeople } from "../inbound.ts";
import { blockFields, escapeEntities } from "./blocks.ts";
import { editOutcome, messageFields, paceOf } from "./edit.ts";
import { classifyRefusal, refusalCode } from "./errors.ts";
import { slackRefs } from "./inbound.ts";

const TIMEOUT_MS = 30_000;

const USER = /^[UW][A-Z0-9]{2,}$/;

/** Slack truncates a longer `text`. */
const MAX_TEXT = 40_000;

/** Creates the channel for Slack's Web API. Slack has no idempotency keys; the key is stored in the message's metadata. */
export function slackChannel(settings: NonNullable<Config["channels"]["slack"]>): Channel {
  const base = trimSlashes(settings.apiUrl);
  const callApi = (method: string, body: object, signal: AbortSignal) => {
    const headers = { Authorization: `Bearer ${settings.botToken}` };
    return sendRequest({ method: "POST", url: `${base}/${method}`, headers, body, timeoutMs: TIMEOUT_MS }, signal);
  };
  const direct = createDirectChannelCache(async (user, signal) => {
    const response = await callApi("conversations.open", { users: user }, signal);
    if (response.kind !== "response") return failureWithoutResponse(response);
    const id = response.json?.channel?.id;
    if (response.json?.ok === true && typeof id === "string") return { kind: "opened", id };
    const refusal = refusalCode(response);
    const failure = refusal ? classifyRefusal(response, refusal) : classifyStatus("Slack", response);
    // A missing im:write must not pause messages to channels.
    return refusal === "missing_scope" ? { kind: "gone", reason: failure.reason } : failure;
  });
  return {
    style: { dialect: "slack", limit: 12_000, unit: "utf16" },
    idempotentForMs: 0,
    async send(outgoing, signal) {
      const { to, text, plain, key, buttons = [] } = outgoing;
      const [, channelOrUser = "", thread] = SLACK_RECIPIENT.exec(to.trim()) ?? [];
      if (channelOrUser === "")
        return { kind: "gone", reason: "This is not a Slack recipient: use the id of a channel or a user." };
      const isUser = USER.test(channelOrUser);
      const opened = isUser
        ? await direct.find(channelOrUser, signal)
        : ({ kind: "opened", id: channelOrUser } as const);
      if (opened.kind !== "opened") return opened;
      const message = {
        channel: opened.id,
        ...(thread && { thread_ts: thread }),
        ...(buttons.length > 0 ? blockFields(outgoing) : plain ? plainTextFields(text) : markdownFields(text, key)),
        // Unfurling makes Slack's servers open the address, which a manipulated agent could use to leak data.
        unfurl_links: false,
        unfurl_media: false,
      };
      const response = await callApi("chat.postMessage", message, signal);
      if (response.kind !== "response") return failureWithoutResponse(response);
      const { ok, channel, ts } = response.json ?? {};
      if (ok === true && typeof channel === "string" && typeof ts === "string") {
        const refs = settings.allowFrom && { refs: slackRefs(channel, ts, thread) };
        return { kind: "sent", id: `${channel}:${ts}`, ...refs };
      }
      const refusal = refusalCode(response);
      if (!refusal) return classifyStatus("Slack", response);
      if (isUser && refusal === "channel_not_found") direct.forget(channelOrUser);
      return classifyRefusal(response, refusal);
    },
    editing: {
      paceOf,
      async edit(outgoing, id, signal) {
        const { text, plain, buttons } = outgoing;
        const fields = buttons ? blockFields(outgoing) : plain ? plainTextFields(text) : { markdown_text: text };
        const response = await callApi("chat.update", { ...messageFields(id), ...fields }, signal);
        return response.kind === "response" ? editOutcome(response, id) : failureWithoutResponse(response);
      },
    },
    async answerPress({ reply, text }, signal) {
      const [channel, user] = reply.split(":");
      const response = await callApi("chat.postEphemeral", { channel, user, text, parse: "none" }, signal);
      return !isAway(response);
    },
    async check(signal) {
      const response = await callApi("auth.test", {}, signal);
      if (response.kind !== "response") return { ok: false, detail: response.reason };
      const { ok, user, team } = response.json ?? {};
      if (ok === true && typeof user === "string") {
        const acts = settings.allowFrom
          ? `with buttons and replies for ${countPeople(settings.allowFrom)}${settings.appToken ? "" : ", if Slack sends them to /slack below hooks.path"}`
          : "without buttons and replies, because channels.slack.allowFrom is not set";
        return {
          ok: true,
          detail: `posts as @${excerpt(user)}${typeof team === "string" ? ` in ${excerpt(team)}` : ""}; ${acts}`,
        };
      }
      const refusal = refusalCode(response);
      const { reason } = refusal ? classifyRefusal(response, refusal) : classifyStatus("Slack", response);
      return { ok: false, detail: response.status === 200 && !refusal ? "Slack's answer contains no bot." : reason };
    },
  };
}

const markdownFields = (text: string, key: string) => ({
  markdown_text: text,
  metadata: { event_type: "signalbox", event_payload: { key } },
});

/**
 * Returns the fields of a plain-text message. They include no metadata, so that a workspace that refuses metadata still
 * receives the text. If entities would make the text too long, zero-width spaces neutralize `<` and `&` instead.
 */
function plainTextFields(text: string): object {
  const escaped = escapeEntities(text);
  const shown = escaped.length > MAX_TEXT ? text.replace(/[<&]/g, "$&\u200b") : escaped;
  return { text: shown, mrkdwn: false, parse: "none" };
}
