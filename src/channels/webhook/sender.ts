import { createHmac } from "node:crypto";
import { unescape as percentDecoded } from "node:querystring";
import { type Dispatcher, request } from "undici";
import { signingKeys } from "../../shared/access/signingKeys.ts";
import { MAX_RETRY_AFTER_MS, retryAfterMs } from "../../shared/backoff.ts";
import { readCallbackUrl } from "../../shared/outbound/callbackUrl.ts";
import { version } from "../../shared/process/version.ts";
import { withDeadline } from "../../shared/timeouts.ts";
import { TIMINGS } from "../../shared/timings.ts";
import { NOT_ALLOWED, openAllowedConnections, openConnections, type Proxies, type Resolve } from "./connections.ts";

/** Limits how much of an answer is read: enough that the connection can be used again after a usual answer. */
const MAX_ANSWER_BYTES = 16 * 1024;
/** Limits the time for the rest of an answer, after which its connection is closed instead of used again. */
const MAX_DUMP_MS = 1_000;
const INVALID_HEADER = "A configured header cannot be sent in a request.";

/** One try to send an event. */
export interface WebhookMessage {
  readonly url: string;
  /** Whether a caller chose `url`, so that its host must be allowed; else it is from the configuration. */
  readonly isCallback: boolean;
  /** The id of the event: the same for each try, without a dot. */
  readonly id: string;
  /** The exact bytes that are signed and sent. */
  readonly body: Uint8Array;
  readonly contentType: string;
  /** One secret, or two while one replaces the other. */
  readonly secrets: readonly string[];
  /** Headers of the operator. They cannot replace the headers of the signature. */
  readonly headers: Readonly<Record<string, string>>;
  /** The time of this try. */
  readonly now: Date;
}

/**
 * How a try ended. `status` is the status code of the answer, null when there was none.
 *
 * - `sent`: the receiver answered 2xx.
 * - `failed`: no further try is permitted, because the receiver answered 410 or the host is not allowed any more.
 * - `retry`: not accepted now. `retryAfterMs` is the pause that the receiver asks for, at most a day; null when it names none.
 * - `stopped`: the signal aborted before there was an answer.
 *
 * `reason` is a sentence for the operator, without the address, the body, or anything that the receiver wrote.
 */
export type WebhookOutcome =
  | { readonly kind: "sent"; readonly status: number }
  | { readonly kind: "failed"; readonly status: number | null; readonly reason: string }
  | {
      readonly kind: "retry";
      readonly status: number | null;
      readonly retryAfterMs: number | null;
      readonly reason: string;
    }
  | { readonly kind: "stopped" };

interface WebhookSenderOptions {
  /** `outbound.allowedHosts`; undefined without `outbound`, so that no callback is sent. */
  readonly allowedHosts?: readonly string[] | undefined;
  readonly timings?: { readonly timeoutMs: number };
  /** Resolves names; `dns.lookup` by default. */
  readonly resolve?: Resolve;
  /** Proxies for the addresses of the configuration. */
  readonly proxies?: Proxies | undefined;
}

/**
 * Sends events to web servers as signed requests of Standard Webhooks. Created once for each configuration; closed by its
 * owner.
 */
export class WebhookSender {
  readonly #allowedHosts: readonly string[] | undefined;
  readonly #timeoutMs: number;
  readonly #connections: Dispatcher;
  readonly #allowedConnections: Dispatcher;

  constructor({ allowedHosts, timings = TIMINGS.webhook, resolve, proxies }: WebhookSenderOptions = {}) {
    this.#allowedHosts = allowedHosts;
    this.#timeoutMs = timings.timeoutMs;
    const options = { timeoutMs: timings.timeoutMs, resolve };
    this.#connections = openConnections(options, proxies);
    this.#allowedConnections = openAllowedConnections(allowedHosts ?? [], options);
  }

  /** Tries once to send an event. Does not follow redirects. Never throws because of the receiver or the network. */
  async send(message: WebhookMessage, signal: AbortSignal): Promise<WebhookOutcome> {
    const { url, isCallback } = message;
    const callback = isCallback ? readCallbackUrl(url, this.#allowedHosts) : undefined;
    if (callback && "fault" in callback) return failed(null, `callbackUrl ${callback.fault}.`);
    const target = URL.parse(url);
    if (!target) return failed(null, "The address of the receiver is not a valid URL.");
    const headers = headersOf(target, message);
    if (!headers) return failed(null, INVALID_HEADER);
    if (signal.aborted) return { kind: "stopped" };
    const post = async (deadline: AbortSignal) => {
      // undici watches the signal only after it has connected.
      const { promise: aborted, reject } = Promise.withResolvers<never>();
      deadline.addEventListener("abort", () => reject(deadline.reason), { once: true });
      return Promise.race([this.#post(target, message, headers, deadline), aborted]);
    };
    try {
      return await withDeadline([signal], this.#timeoutMs, post);
    } catch (error) {
      return signal.aborted ? { kind: "stopped" } : this.#outcomeOfError(error as Error);
    }
  }

  async #post(
    { origin, pathname, search }: URL,
    { isCallback, body, now }: WebhookMessage,
    headers: Headers,
    signal: AbortSignal,
  ): Promise<WebhookOutcome> {
    const dispatcher = isCallback ? this.#allowedConnections : this.#connections;
    const options = { dispatcher, method: "POST", headers, body, signal } as const;
    const answer = await request(`${origin}${pathname}${search}`, options);
    const outcome = classify(answer.statusCode, answer.headers["retry-after"], now);
    // The status decides, whatever becomes of the rest of the answer.
    await answer.body
      .dump({ limit: MAX_ANSWER_BYTES, signal: AbortSignal.any([signal, AbortSignal.timeout(MAX_DUMP_MS)]) })
      .catch(() => {});
    return outcome;
  }

  #outcomeOfError(error: Error): WebhookOutcome {
    if (error.name === "TimeoutError")
      return retry(null, `There was no answer within ${this.#timeoutMs / 1_000} seconds.`);
    const { code = "network error" } = error as NodeJS.ErrnoException;
    if (code === NOT_ALLOWED) {
      return retry(null, "The host of callbackUrl resolves to an address that outbound.allowedHosts does not allow.");
    }
    if (code === "UND_ERR_INVALID_ARG") return failed(null, INVALID_HEADER);
    return retry(null, `The receiver could not be reached, or the connection broke (${code}).`);
  }

  async close(): Promise<void> {
    await Promise.all([this.#connections.destroy(), this.#allowedConnections.destroy()]);
  }
}

/** Returns the headers of a request; undefined when one of the operator's cannot be sent. */
function headersOf(
  { username, password }: URL,
  { id, body, secrets, headers, contentType, now }: WebhookMessage,
): Headers | undefined {
  let merged: Headers;
  try {
    merged = new Headers(headers);
  } catch {
    return undefined;
  }
  if (username + password !== "") {
    const user = `${percentDecoded(username)}:${percentDecoded(password)}`;
    merged.set("Authorization", `Basic ${Buffer.from(user).toString("base64")}`);
  }
  const own = { "Content-Type": contentType, "User-Agent": `Signalbox/${version}` };
  for (const [name, value] of Object.entries({ ...own, ...signatureHeaders(id, body, secrets, now) })) {
    merged.set(name, value);
  }
  return merged;
}

function classify(status: number, retryAfter: string | string[] | undefined, now: Date): WebhookOutcome {
  const summary = `The receiver answered ${status}`;
  if (status >= 200 && status < 300) return { kind: "sent", status };
  if (status === 410) return failed(status, `${summary}: the receiver asks for no further requests.`);
  const retryHeaders = new Headers(typeof retryAfter === "string" ? { "Retry-After": retryAfter } : {});
  const afterMs = retryAfterMs(retryHeaders, now.getTime());
  const pauseMs = afterMs === null ? null : Math.min(afterMs, MAX_RETRY_AFTER_MS);
  const isRedirect = status >= 300 && status < 400;
  return retry(status, isRedirect ? `${summary}, a redirect, which is not followed.` : `${summary}.`, pauseMs);
}

const failed = (status: number | null, reason: string): WebhookOutcome => ({ kind: "failed", status, reason });

const retry = (status: number | null, reason: string, retryAfterMs: number | null = null): WebhookOutcome => ({
  kind: "retry",
  status,
  retryAfterMs,
  reason,
});

/**
 * Returns the headers that identify and sign a message of Standard Webhooks 1.0.0: `webhook-id`, `webhook-timestamp` (Unix
 * seconds) and `webhook-signature`, which has one signature for each secret.
 * Source: https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
function signatureHeaders(id: string, body: Uint8Array, secrets: readonly string[], now: Date): Record<string, string> {
  const seconds = Math.floor(now.getTime() / 1_000);
  const signatures = secrets.map((secret) => {
    const [key = ""] = signingKeys("standard-webhooks", secret);
    return `v1,${createHmac("sha256", key).update(`${id}.${seconds}.`).update(body).digest("base64")}`;
  });
  return { "webhook-id": id, "webhook-timestamp": String(seconds), "webhook-signature": signatures.join(" ") };
}
