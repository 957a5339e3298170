import { retryAfterMs } from "../../shared/backoff.ts";
import { type ApiResponse, classifyStatus, describeResponse, type Failure } from "../httpStatus.ts";

type Kind = Exclude<Failure["kind"], "rate-limited">;

/** Rate limits that may come with another status than 429, with their scope. */
const RATE_LIMIT_CODES: Readonly<Record<number, readonly ["channel" | "recipient", string]>> = {
  20016: ["recipient", "the channel is in slow mode"],
  20028: ["recipient", "the channel has reached its rate limit"],
  20029: ["recipient", "the server has reached its rate limit"],
  40003: ["channel", "too many direct messages were opened"],
  40062: ["channel", "the service is rate limited"],
};

const CODES_BY_KIND: readonly (readonly [Kind, Readonly<Record<number, string>>])[] = [
  [
    "authentication",
    {
      40001: "the token is not valid",
      40002: "the account must be verified",
      50010: "the application has no bot",
      50014: "the token is not valid",
    },
  ],
  [
    "gone",
    {
      10003: "there is no such channel",
      10004: "there is no such server",
      10013: "there is no such user",
      40007: "the user is banned from the server",
      40058: "a forum accepts threads, not messages",
      50001: "the bot cannot see the channel",
      50007: "the user does not accept messages from the bot",
      50008: "the channel does not accept text",
      50009: "the server's verification level is too high",
      50013: "the bot lacks a permission",
      50024: "a channel of this type does not accept messages",
      50033: "the bot cannot write to this user",
      50083: "the thread is archived",
      50278: "the bot and the user share no server",
      160005: "the thread is locked",
    },
  ],
  [
    // Not `content`: a retry as escaped plain text would only bypass the filter.
    "refused",
    {
      20009: "Discord does not deliver explicit content to this recipient",
      200000: "the server's automatic moderation has blocked the message",
      240000: "a filter for harmful links has blocked the message",
    },
  ],
  [
    "content",
    {
      40005: "the message is too large",
      50006: "the message is empty",
      50035: "the message was rejected",
      50109: "the message was rejected",
    },
  ],
  [
    "transient",
    {
      40004: "sending is temporarily switched off",
      40006: "a feature is temporarily switched off",
      40333: "Cloudflare has blocked the request",
      110001: "the application is not available yet",
      130000: "the service is overloaded",
    },
  ],
];

/**
 * Classifies a response of Discord to a message, or to a request to open a channel. The reason shows only Discord's code.
 * Permanent refusals must not be retried: Discord blocks an IP address after 10,000 refusals in ten minutes.
 */
export function classifyResponse(response: ApiResponse): Failure | { readonly kind: "sent"; readonly id: string } {
  const { status, json } = response;
  const id = json?.id;
  if (status >= 200 && status < 300 && typeof id === "string" && /^\d+$/.test(id)) return { kind: "sent", id };
  const code: number | undefined = Number.isSafeInteger(json?.code) ? json.code : undefined;
  if (status === 429 || (code !== undefined && code in RATE_LIMIT_CODES)) return classifyRateLimit(response, code);
  const failure = classifyStatus("Discord", response, code || undefined);
  // A response without a code comes from Cloudflare or from another server.
  if (code === undefined || status === 401 || status >= 500) return failure;
  const [kind, words] = CODES_BY_KIND.find(([, codes]) => code in codes) ?? [];
  const summary = describeResponse("Discord", status, code);
  if (kind && status >= 400) return { kind, reason: `${summary}: ${words?.[code]}.` };
  if (status === 403 || (status === 404 && code !== 0)) return { kind: "gone", reason: `${summary}.` };
  return status === 400 ? { kind: "content", reason: `${summary}: the message was rejected.` } : failure;
}

/**
 * Classifies a rate limit. Its scope is the whole channel unless the response says that it applies to one resource or to the
 * bucket of one path, which contains the recipient's channel.
 */
function classifyRateLimit({ status, headers, json }: ApiResponse, code: number | undefined): Failure {
  const [about, words] = (code !== undefined && RATE_LIMIT_CODES[code]) || [];
  const reason = `${describeResponse("Discord", status, code || undefined)}${words ? `: ${words}` : ""}.`;
  const seconds = json?.retry_after;
  const waitMs = typeof seconds === "number" ? Math.ceil(Math.max(0, seconds) * 1_000) : retryAfterMs(headers);
  const isGlobal =
    json?.global === true || headers.has("X-RateLimit-Global") || headers.get("X-RateLimit-Scope") === "global";
  const isOfOne = headers.get("X-RateLimit-Scope") === "shared" || headers.has("X-RateLimit-Bucket");
  const scope = isGlobal ? "channel" : (about ?? (isOfOne ? "recipient" : "channel"));
  return { kind: "rate-limited", retryAfterMs: waitMs, scope, reason };
}
