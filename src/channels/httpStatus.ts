import { retryAfterMs } from "../shared/retryAfter.ts";
import type { SendResult } from "./channel.ts";
import type { ApiResult } from "./http.ts";

/** What the service has answered. */
export type ApiResponse = Extract<ApiResult, { kind: "response" }>;

/** Why a message was not sent, or whether it was is not known. */
export type Failure = Exclude<SendResult, { kind: "sent" }>;

/** A service's own code, to be shown, where the value is one; words may quote anything. Some codes are two words. */
export function codeOf(value: unknown): string | undefined {
  const code = typeof value === "number" ? String(value) : value;
  return typeof code === "string" && /^[\w.-]{1,100}( [\w.-]{1,30})?$/.test(code) ? code : undefined;
}

/** The request is lost, or never left: what that says of the message in it. */
export const failureWithoutResponse = ({ kind, reason }: Exclude<ApiResult, ApiResponse>): Failure => ({
  kind: kind === "lost" ? "ambiguous" : "transient",
  reason,
});

/** The beginning of a reason, to be ended with a stop or with why. */
export const describeResponse = (service: string, status: number, code?: string | number): string =>
  `${service} answered ${status}${code === undefined ? "" : ` (${code})`}`;

/** What a status says of a message where no code of the service's own says more; `code` is only told. */
export function classifyStatus(service: string, { status, headers }: ApiResponse, code?: string | number): Failure {
  const summary = describeResponse(service, status, code);
  if (status < 300) return { kind: "ambiguous", reason: `${summary}, but not what it answers for a message it took.` };
  if (status < 400) return { kind: "transient", reason: `${summary}, a redirect, which is not followed.` };
  if (status === 401) return { kind: "authentication", reason: `${summary}: the credentials are not good.` };
  if (status === 413) return { kind: "content", reason: `${summary}: the message is too large.` };
  if (status === 429) {
    return { kind: "rate-limited", retryAfterMs: retryAfterMs(headers), scope: "channel", reason: `${summary}.` };
  }
  // What is behind the gateway may have carried on.
  if (status === 504) return { kind: "ambiguous", reason: `${summary}: a gateway got no answer in time.` };
  return { kind: "transient", reason: `${summary}.` };
}
