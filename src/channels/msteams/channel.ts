import { isConversationId } from "../../config/channels/recipients.ts";
import type { Config } from "../../config/config.ts";
import { trimSlashes } from "../../shared/address.ts";
import { retryAfterMs } from "../../shared/backoff.ts";
import { type Clock, systemClock } from "../../shared/clock.ts";
import type { Channel, SendOutcome } from "../channel.ts";
import { type RequestOutcome, sendRequest } from "../http.ts";
import {
  type ApiResponse,
  classifyStatus,
  codeOf,
  describeResponse,
  type Failure,
  failureWithoutResponse,
} from "../httpStatus.ts";
import { tokenSource } from "./token.ts";

const TIMEOUT_MS = 30_000;

/** Creates the channel for Microsoft Teams, through the Bot Framework's connector. The bot must be part of a conversation. */
export function msteamsChannel(
  settings: NonNullable<Config["channels"]["msteams"]>,
  clock: Clock = systemClock,
): Channel {
  const conversations = `${trimSlashes(settings.apiUrl)}/v3/conversations`;
  const tokens = tokenSource(settings, clock);

  async function post(to: string, activity: object, signal: AbortSignal): Promise<RequestOutcome | Failure> {
    const token = await tokens.get(signal);
    if (token.kind !== "token") return token;
    const response = await sendRequest(
      {
        method: "POST",
        url: `${conversations}/${encodeURIComponent(to)}/activities`,
        headers: { Authorization: `Bearer ${token.value}` },
        body: activity,
        timeoutMs: TIMEOUT_MS,
      },
      signal,
    );
    if (isUnauthorized(response)) tokens.discard(token);
    return response;
  }

  return {
    style: { dialect: "markdown", limit: 20_000, unit: "utf16" },
    idempotentForMs: 0,
    async send({ to, text, plain }, signal) {
      if (!isConversationId(to)) return { kind: "gone", reason: "This is not a conversation id." };
      const activity = { type: "message", text, textFormat: plain ? "plain" : "markdown" };
      let response = await post(to, activity, signal);
      // The message was not sent, and the token may have been revoked early: retry once with a new one.
      if (isUnauthorized(response)) response = await post(to, activity, signal);
      if (response.kind === "response") return classify(response);
      return response.kind === "lost" || response.kind === "unsent" ? failureWithoutResponse(response) : response;
    },
    async check(signal) {
      const token = await tokens.request(signal);
      return token.kind === "token"
        ? { ok: true, detail: `received a token for the app ${settings.appId}` }
        : { ok: false, detail: token.reason };
    },
  };
}

const isUnauthorized = (response: RequestOutcome | Failure): boolean =>
  response.kind === "response" && response.status === 401;

/** Classifies a response of the connector. The reason shows only the code: the error's text may quote the request. */
function classify(response: ApiResponse): SendOutcome {
  const { status, headers, json } = response;
  if (status >= 200 && status < 300 && typeof json?.id === "string") return { kind: "sent", id: json.id };
  const code = codeOf(json?.error?.code);
  const failure = classifyStatus("Microsoft Teams", response, code);
  if (failure.kind === "rate-limited") return { ...failure, retryAfterMs: retryAfterMs(headers), scope: "recipient" };
  // A response without a code comes from a proxy or another server.
  if (!code || failure.kind !== "transient") return failure;
  const because = (words: string) => `${describeResponse("Microsoft Teams", status, code)}: ${words}.`;
  if (status === 400) return { kind: "content", reason: because("the message was rejected") };
  if (status === 403)
    return { kind: "gone", reason: because(FORBIDDEN_REASONS.get(code) ?? "the bot is not allowed to write there") };
  if (status === 404) return { kind: "gone", reason: because("there is no such conversation") };
  return failure;
}

const FORBIDDEN_REASONS: ReadonlyMap<string, string> = new Map([
  ["BotDisabledByAdmin", "the tenant's administrator has disabled the bot"],
  ["BotNotInConversationRoster", "the bot is not part of the conversation"],
  ["ConversationBlockedByUser", "the user has blocked the bot"],
  ["ForbiddenOperationException", "the bot is not installed for this user"],
  ["InvalidBotApiHost", "the conversation is in another cloud; channels.msteams.apiUrl must be that cloud's"],
  ["MessageWritesBlocked", "the user has blocked or removed the bot"],
]);
