import { withDeadline } from "../../shared/timeouts.ts";
import type { GoogleAuth } from "../auth/googleAuth.ts";
import { fromResponse, GoogleError } from "./googleError.ts";

export interface GoogleRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly url: string;
  /** Request body, sent as JSON. */
  readonly body?: object;
  /** Time limit for the request including its response. */
  readonly timeoutMs: number;
  /** Whether a time-out counts as an empty response, as for a long poll. */
  readonly isEmptyOnTimeout?: boolean;
}

/**
 * Sends one request to a REST service of Google and returns the JSON object of its response. Does not follow redirects, so
 * that a token is sent only to the configured address.
 * @throws GoogleError; the reason of an aborted signal
 */
export function googleFetch(
  auth: GoogleAuth,
  service: string,
  { method, url, body, timeoutMs, isEmptyOnTimeout }: GoogleRequest,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  return auth.call(
    service,
    (token) =>
      withDeadline([signal], timeoutMs, async (bounded) => {
        try {
          const response = await fetch(url, {
            method,
            redirect: "manual",
            headers: { Authorization: `Bearer ${token}`, ...(body && { "Content-Type": "application/json" }) },
            signal: bounded,
            ...(body && { body: JSON.stringify(body) }),
          });
          return read(service, response, await response.text());
        } catch (thrown) {
          if (isEmptyOnTimeout && bounded.aborted && !signal.aborted) return {};
          throw thrown;
        }
      }),
    signal,
  );
}

function read(service: string, { ok, status, headers }: Response, text: string): Record<string, unknown> {
  const body = parse(text);
  if (!ok) throw fromResponse(service, { status, headers, body });
  if (typeof body === "object" && body) return body as Record<string, unknown>;
  throw new GoogleError("transient", `${service}'s answer could not be read.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
