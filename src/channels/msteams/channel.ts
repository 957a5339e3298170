import { trimSlashes } from "../../shared/address.ts";
import { type Clock, systemClock } from "../../shared/clock.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { retryAfterMs } from "../../shared/retryAfter.ts";
import type { Channel, SendResult } from "../channel.ts";
import { type ApiAnswer, askApi } from "../http.ts";
import { type Answered, answered, codeOf, type Failure, judgeStatus, unanswered } from "../httpStatus.ts";
import { tokenSource } from "./token.ts";

const TIMEOUT_MS = 30_000;

/** Microsoft Teams, through the Bot Framework's connector, into conversations that the bot is part of already. */
export function msteamsChannel(
  settings: NonNullable<Config["channels"]["msteams"]>,
  clock: Clock = systemClock,
): Channel {
  const conversations = `${trimSlashes(settings.apiUrl)}/v3/conversations`;
  const tokens = tokenSource(settings, clock);

  async function post(to: string, activity: object, signal: AbortSignal): Promise<ApiAnswer | Failure> {
    const token = await tokens.get(signal);
    if (token.kind !== "token") return token;
    const answer = await askApi(
      {
        method: "POST",
        url: `${conversations}/${encodeURIComponent(to)}/activities`,
        headers: { Authorization: `Bearer ${token.value}` },
        body: activity,
        timeoutMs: TIMEOUT_MS,
      },
      signal,
    );
    if (isRefused(answer)) tokens.discard(token);
    return answer;
  }

  return {
    style: { dialect: "markdown", limit: 20_000, unit: "utf16" },
    idempotentForMs: 0,
    async send({ to, text, plain }, signal) {
      // What is no well-formed text cannot be written into a path, and dots alone would lead out of it.
      if (!to.isWellFormed() || /^\.{0,2}$/.test(to)) return { kind: "gone", reason: "No id of a conversation." };
      const activity = { type: "message", text, textFormat: plain ? "plain" : "markdown" };
      let answer = await post(to, activity, signal);
      // Nothing was sent, and the token may only have been withdrawn before its time.
      if (isRefused(answer)) answer = await post(to, activity, signal);
      if (answer.kind === "answer") return judge(answer);
      return answer.kind === "lost" || answer.kind === "unsent" ? unanswered(answer) : answer;
    },
    async check(signal) {
      const token = await tokens.request(signal);
      return token.kind === "token"
        ? { ok: true, detail: `there is a token for the app ${settings.appId}` }
        : { ok: false, detail: token.reason };
    },
  };
}

const isRefused = (answer: ApiAnswer | Failure): boolean => answer.kind === "answer" && answer.status === 401;

/** What an answer of the connector says of a message. Only its code is shown: its words may quote the request. */
function judge(answer: Answered): SendResult {
  const { status, headers, json } = answer;
  if (status >= 200 && status < 300 && typeof json?.id === "string") return { kind: "sent", id: json.id };
  const code = codeOf(json?.error?.code);
  const failure = judgeStatus("Microsoft Teams", answer, code);
  if (failure.kind === "rate-limited") return { ...failure, retryAfterMs: retryAfterMs(headers), scope: "recipient" };
  // Without a code it is not the connector that speaks, but a proxy before it, or another server altogether.
  if (!code || failure.kind !== "transient") return failure;
  const because = (words: string) => `${answered("Microsoft Teams", status, code)}: ${words}.`;
  if (status === 400) return { kind: "content", reason: because("it does not take this message") };
  if (status === 403) return { kind: "gone", reason: because(WHY_NOT.get(code) ?? "the bot may not write there") };
  if (status === 404) return { kind: "gone", reason: because("there is no such conversation") };
  return failure;
}

const WHY_NOT: ReadonlyMap<string, string> = new Map([
  ["BotDisabledByAdmin", "the tenant's administrator has disabled the bot"],
  ["BotNotInConversationRoster", "the bot is not part of the conversation"],
  ["ConversationBlockedByUser", "the user has blocked the bot"],
  ["ForbiddenOperationException", "the bot is not installed for this user"],
  ["InvalidBotApiHost", "the conversation is in another cloud; channels.msteams.apiUrl must be that cloud's"],
  ["MessageWritesBlocked", "the user has blocked or removed the bot"],
]);
