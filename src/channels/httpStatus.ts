import { retryAfterMs } from "../shared/backoff.ts";
import type { SendOutcome } from "./channel.ts";
import type { RequestOutcome } from "./http.ts";

/** A response that a service returned. */
export type ApiResponse = Extract<RequestOutcome, { kind: "response" }>;

/** Any outcome but `sent`. */
export type Failure = Exclude<SendOutcome, { kind: "sent" }>;

/**
 * Returns the value if it looks like an error code (one or two words), else undefined. Longer text is never shown, as it may
 * quote anything.
 */
export function codeOf(value: unknown): string | undefined {
  const code = typeof value === "number" ? String(value) : value;
  return typeof code === "string" && /^[\w.-]{1,100}( [\w.-]{1,30})?$/.test(code) ? code : undefined;
}

/** Classifies a request without a response: `ambiguous` if it may have reached the service, else `transient`. */
export const failureWithoutResponse = ({ kind, reason }: Exclude<RequestOutcome, ApiResponse>): Failure => ({
  kind: kind === "lost" ? "ambiguous" : "transient",
  reason,
});

/** Returns whether a service has not taken a request and may take it later. */
export const isAway = (outcome: RequestOutcome): boolean =>
  outcome.kind !== "response" || outcome.status === 429 || outcome.status >= 500;

/** Returns the beginning of a reason, such as "Slack answered 404 (not_found)"; the caller adds the rest. */
export const describeResponse = (service: string, status: number, code?: string | number): string =>
  `${service} answered ${status}${code === undefined ? "" : ` (${code})`}`;

/**
 * Classifies a response by its status alone, for responses without a more specific code. `code` appears in the reason but
 * does not affect the kind.
 */
export function classifyStatus(service: string, { status, headers }: ApiResponse, code?: string | number): Failure {
  const summary = describeResponse(service, status, code);
  if (status < 300)
    return { kind: "ambiguous", reason: `${summary}, but not with the response to an accepted message.` };
  if (status < 400) return { kind: "transient", reason: `${summary}, a redirect, which is not followed.` };
  if (status === 401) return { kind: "authentication", reason: `${summary}: the credentials are not valid.` };
  if (status === 413) return { kind: "content", reason: `${summary}: the message is too large.` };
  if (status === 429) {
    return { kind: "rate-limited", retryAfterMs: retryAfterMs(headers), scope: "channel", reason: `${summary}.` };
  }
  // The server behind the gateway may have processed the request all the same.
  if (status === 504) return { kind: "ambiguous", reason: `${summary}: a gateway received no answer in time.` };
  return { kind: "transient", reason: `${summary}.` };
}
