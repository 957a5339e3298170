import { promisify } from "node:util";
import { gzip } from "node:zlib";
import { type Dispatcher, request } from "undici";
import { openConnections, type Proxies } from "../../channels/webhook/connections.ts";
import type { TraceTarget } from "../../config/otel.ts";
import { countSpans, type SpanDoc } from "../../models/notifications/spans.ts";
import type { Stores } from "../../models/stores.ts";
import { backoff, retryAfterMs } from "../../shared/backoff.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Logger } from "../../shared/logger.ts";
import { version } from "../../shared/process/version.ts";
import { isObject } from "../../shared/text/json.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import { withDeadline } from "../../shared/timeouts.ts";
import type { Timings } from "../../shared/timings.ts";
import type { WorkerMetrics } from "../metrics.ts";
import { attributeList } from "./span.ts";

/** The collector to which spans are sent, and the proxies on the way. */
export interface SpanReceiver extends TraceTarget {
  readonly proxies: Proxies | undefined;
}

interface SenderDeps {
  readonly stores: Pick<Stores, "spans">;
  readonly clock: Clock;
  readonly log: Logger;
  readonly metrics: Pick<WorkerMetrics, "otelSpans">;
  readonly timings: Pick<Timings, "traces">;
}

/**
 * How a request ended. `taken`: the receiver has answered 200, and has refused some of the spans. `refused`: no further try is
 * permitted. `retry`: the receiver is busy or away, and may ask for a pause. `stopped`: the signal aborted before.
 */
type Outcome =
  | { readonly kind: "taken"; readonly rejected: number; readonly reason: string | undefined }
  | { readonly kind: "refused"; readonly reason: string }
  | { readonly kind: "retry"; readonly reason: string; readonly afterMs: number }
  | { readonly kind: "stopped" };

/** The statuses after which OTLP permits another try. */
const RETRYABLE: readonly number[] = [429, 502, 503, 504];
/** Maximum bytes of an answer that are read, and characters of the receiver's words that are logged. */
const MAX_ANSWER_BYTES = 64 * 1024;
const MAX_REASON_CHARS = 300;

const RESOURCE = { attributes: attributeList({ "service.name": "signalbox", "service.version": version }) };
const SCOPE = { name: "signalbox", version };

const compress = promisify(gzip);

/** Sends the spans that wait to a receiver of OTLP over HTTP, in requests of limited size. Its owner closes it. */
export class SpanSender {
  readonly #deps: SenderDeps;
  readonly #url: URL;
  readonly #headers: Record<string, string>;
  readonly #connections: Dispatcher;
  readonly #pauseMs: (failures: number) => number;
  #failures = 0;
  /** The earliest time of the next request after a failure. */
  #notBefore = 0;

  constructor({ url, headers, proxies }: SpanReceiver, deps: SenderDeps) {
    const { timeoutMs, retryMs, maxRetryMs } = deps.timings.traces;
    this.#deps = deps;
    this.#url = new URL(url);
    this.#headers = { ...headers, ...basicAuth(this.#url) };
    this.#connections = openConnections({ timeoutMs }, proxies);
    this.#pauseMs = backoff({ initialMs: retryMs, maxMs: maxRetryMs, jitter: 0.2 });
  }

  /**
   * Sends whatever waits, unless the receiver rests after a failure. Spans that it takes or refuses are removed, and the others
   * stay until they are too old.
   * @param stops signals that end it
   * @throws AppError unavailable
   */
  async sendAll(stops: readonly AbortSignal[]): Promise<void> {
    const { stores } = this.#deps;
    while (performance.now() >= this.#notBefore && !stops.some(({ aborted }) => aborted)) {
      const batch = await stores.spans.nextBatch();
      if (batch.length === 0) return;
      const outcome = await this.#send(batch, stops);
      if (outcome.kind === "stopped") return;
      if (outcome.kind === "retry") await this.#rest(outcome);
      else await this.#finish(batch, outcome);
    }
  }

  async #finish(batch: readonly SpanDoc[], outcome: Extract<Outcome, { kind: "taken" | "refused" }>): Promise<void> {
    const { stores, metrics, log } = this.#deps;
    const spans = countSpans(batch);
    const failed = outcome.kind === "taken" ? Math.min(outcome.rejected, spans) : spans;
    await stores.spans.remove(batch);
    metrics.otelSpans.inc({ outcome: "failed" }, failed);
    metrics.otelSpans.inc({ outcome: "sent" }, spans - failed);
    this.#failures = 0;
    const { reason } = outcome;
    if (reason !== undefined) log.warn({ reason, failed, spans }, "the receiver of traces did not take all spans");
  }

  /** Pauses after a failure, and drops what has waited for too long. */
  async #rest({ reason, afterMs }: Extract<Outcome, { kind: "retry" }>): Promise<void> {
    const { stores, clock, metrics, log, timings } = this.#deps;
    const { giveUpMs } = timings.traces;
    this.#failures++;
    const pauseMs = Math.min(Math.max(this.#pauseMs(this.#failures), afterMs), giveUpMs);
    this.#notBefore = performance.now() + pauseMs;
    const dropped = await stores.spans.removeBefore(new Date(clock.now().getTime() - giveUpMs));
    metrics.otelSpans.inc({ outcome: "dropped" }, dropped);
    log.warn({ reason, dropped, pauseMs: Math.round(pauseMs) }, "traces could not be sent; they are tried again");
  }

  /** Sends a batch once. Never throws because of the receiver or the network. */
  async #send(batch: readonly SpanDoc[], stops: readonly AbortSignal[]): Promise<Outcome> {
    const scope = JSON.stringify({ scope: SCOPE, spans: [] }).slice(0, -2);
    const spans = batch.map(({ json }) => json).join(",");
    const body = await compress(
      `{"resourceSpans":[{"resource":${JSON.stringify(RESOURCE)},"scopeSpans":[${scope}${spans}]}]}]}`,
    );
    const post = async (signal: AbortSignal) => {
      // undici watches the signal only after it has connected.
      const { promise: aborted, reject } = Promise.withResolvers<never>();
      signal.addEventListener("abort", () => reject(signal.reason), { once: true });
      return Promise.race([this.#post(body, signal), aborted]);
    };
    try {
      return await withDeadline(stops, this.#deps.timings.traces.timeoutMs, post);
    } catch (error) {
      if (stops.some(({ aborted }) => aborted)) return { kind: "stopped" };
      const { name, code = name } = error as NodeJS.ErrnoException;
      return {
        kind: "retry",
        reason: `The receiver could not be reached, or the connection broke (${code}).`,
        afterMs: 0,
      };
    }
  }

  async #post(body: Uint8Array, signal: AbortSignal): Promise<Outcome> {
    const { origin, pathname } = this.#url;
    const answer = await request(`${origin}${pathname}`, {
      dispatcher: this.#connections,
      method: "POST",
      headers: {
        ...this.#headers,
        "Content-Type": "application/json",
        "Content-Encoding": "gzip",
        "User-Agent": `Signalbox/${version}`,
      },
      body,
      signal,
    });
    const { statusCode, headers } = answer;
    const text = await readBeginning(answer.body);
    if (statusCode >= 200 && statusCode < 300) return { kind: "taken", ...partialSuccess(text) };
    const reason = `The receiver answered ${statusCode}.`;
    if (!RETRYABLE.includes(statusCode)) return { kind: "refused", reason };
    const after = headers["retry-after"];
    const asked = new Headers(typeof after === "string" ? { "Retry-After": after } : {});
    return { kind: "retry", reason, afterMs: retryAfterMs(asked, this.#deps.clock.now().getTime()) ?? 0 };
  }

  async close(): Promise<void> {
    await this.#connections.destroy();
  }
}

/** Returns the header for the user and password of an address. */
function basicAuth({ username, password }: URL): { readonly Authorization?: string } {
  if (username + password === "") return {};
  const user = [username, password].map(decodeURIComponent).join(":");
  return { Authorization: `Basic ${Buffer.from(user).toString("base64")}` };
}

/** Reads an answer up to its maximum size, and closes the connection of a longer one. */
async function readBeginning(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      bytes += chunk.length;
      if (bytes > MAX_ANSWER_BYTES) break;
      chunks.push(chunk);
    }
  } catch {
    // The status decides, whatever becomes of the rest of the answer.
  }
  return Buffer.concat(chunks).toString();
}

/** Returns how many spans a receiver refuses in an answer of success, and why or of what it warns. */
function partialSuccess(text: string): { readonly rejected: number; readonly reason: string | undefined } {
  let partial: unknown;
  try {
    const answer: unknown = JSON.parse(text);
    partial = isObject(answer) ? answer.partialSuccess : undefined;
  } catch {
    partial = undefined; // an answer that says nothing
  }
  const { rejectedSpans = 0, errorMessage } = isObject(partial) ? partial : {};
  const rejected = Number(rejectedSpans);
  const message =
    typeof errorMessage === "string" ? sanitizeText(errorMessage).slice(0, MAX_REASON_CHARS).toWellFormed() : "";
  const isRejected = Number.isSafeInteger(rejected) && rejected > 0;
  return {
    rejected: isRejected ? rejected : 0,
    reason: isRejected || message !== "" ? message || "The receiver gives no reason." : undefined,
  };
}
