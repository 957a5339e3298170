import { withDeadline } from "../../shared/timeouts.ts";
import type { GoogleAuth } from "../auth/googleAuth.ts";
import { fromAnswer, GoogleError } from "./googleError.ts";

export interface GoogleRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly url: string;
  /** Sent as JSON. */
  readonly body?: object;
  /** From the beginning to the end of the answer. */
  readonly timeoutMs: number;
  /** Whether no answer in time is an empty one. */
  readonly mayWait?: boolean;
}

/**
 * Asks one of Google's REST services once, for its JSON object. Redirects are not followed: a token goes nowhere but where it
 * was configured to go.
 * @throws GoogleError; the signal's reason when it is aborted
 */
export function googleFetch(
  auth: GoogleAuth,
  service: string,
  { method, url, body, timeoutMs, mayWait }: GoogleRequest,
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
          if (mayWait && bounded.aborted && !signal.aborted) return {};
          throw thrown;
        }
      }),
    signal,
  );
}

function read(service: string, { ok, status, headers }: Response, text: string): Record<string, unknown> {
  const body = parse(text);
  if (!ok) throw fromAnswer(service, { status, headers, body });
  if (typeof body === "object" && body) return body as Record<string, unknown>;
  throw new GoogleError("passing", `${service}'s answer could not be read.`);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
