import { retryAfterMs } from "../../shared/backoff.ts";
import type { SendOutcome } from "../channel.ts";
import { type ApiResponse, classifyStatus, codeOf, describeResponse } from "../httpStatus.ts";

/** The id of the error for a post whose earlier attempt is still being saved. */
const PENDING = "api.post.deduplicate_create_post.pending";

/** Matches ids of a 400 that is about the post's channel or thread, not about its content. */
const CHANNEL_ERROR = /channel_id|root_id|invalid_(url_)?param|can_not_post|shared_dm/;

/**
 * Classifies a response of Mattermost. The reason shows only the id of the error: plugins write its message, which may quote
 * the post.
 */
export function classifyResponse(response: ApiResponse): SendOutcome {
  const { status, headers, json } = response;
  const id: unknown = json?.id;
  const isFromMattermost = typeof id === "string" && id !== "";
  if (status >= 200 && status < 300 && isFromMattermost) return { kind: "sent", id };
  const failure = classifyStatus("Mattermost", response, codeOf(id));
  if (failure.kind === "rate-limited") return { ...failure, retryAfterMs: retryAfterMs(headers) ?? resetMs(headers) };
  // A response without an id comes from a proxy or another server.
  if (!isFromMattermost || failure.kind !== "transient") return failure;
  const because = (words: string) => `${describeResponse("Mattermost", status, codeOf(id))}: ${words}.`;
  if (id === PENDING) {
    const reason = because("an earlier attempt to send this message is still being saved");
    return { kind: "rate-limited", retryAfterMs: 1_000, scope: "recipient", reason };
  }
  if (status === 403) return { kind: "gone", reason: because("the bot is not allowed to write there") };
  if (status === 404) return { kind: "gone", reason: because("there is no such channel, team or user for the bot") };
  if (status !== 400) return failure;
  return CHANNEL_ERROR.test(id)
    ? { kind: "gone", reason: because("the channel or the thread cannot be written to") }
    : { kind: "content", reason: because("the message was rejected") };
}

/** Returns the delay in milliseconds. The header holds seconds from now, not a point in time. */
function resetMs(headers: Headers): number | null {
  const value = headers.get("X-RateLimit-Reset") ?? "";
  return /^\d+$/.test(value) ? Number(value) * 1_000 : null;
}
