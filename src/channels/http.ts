/** One request to a service. */
export interface ApiRequest {
  readonly method: "GET" | "POST" | "PUT" | "PATCH";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, as a form if it is a URLSearchParams, or as plain text if it is a string. */
  readonly body?: object | string;
  /** Time limit for the whole request, including the response body. */
  readonly timeoutMs: number;
}

/**
 * How a request ended. `response`: the service responded, with any status; `json` is undefined if the body is not JSON.
 * `unsent`: the request certainly did not reach the service. `lost`: it may have reached it; `reason` explains.
 */
export type RequestOutcome =
  | {
      readonly kind: "response";
      readonly status: number;
      readonly headers: Headers;
      readonly text: string;
      /** Whether the body broke off or timed out. `text` is empty then; status and headers are valid. */
      readonly isTruncated: boolean;
      // biome-ignore lint/suspicious/noExplicitAny: a response can have any shape; each channel checks the fields it reads
      readonly json: any;
    }
  | { readonly kind: "unsent"; readonly reason: string }
  | { readonly kind: "lost"; readonly reason: string };

/** Error codes of failures that occur before any part of a request is sent. */
const BEFORE_SENDING: readonly unknown[] = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
];

/** Error codes of a TLS handshake that found no common version or cipher. */
const NO_HANDSHAKE = /^ERR_SSL_.*(_VERSION|_HANDSHAKE_FAILURE|_UNSUPPORTED_PROTOCOL)/;

const MAX_RESPONSE_BYTES = 1024 * 1024;

/**
 * Sends one request. Does not follow redirects, so that a token is sent only to the configured address. Never throws;
 * `reason` names the kind of failure, but no address.
 */
export async function sendRequest(request: ApiRequest, signal: AbortSignal): Promise<RequestOutcome> {
  const { method, url, body, timeoutMs } = request;
  if (signal.aborted) return { kind: "unsent", reason: "The worker is stopping." };
  const timeout = AbortSignal.timeout(timeoutMs);
  const isJson = typeof body === "object" && !(body instanceof URLSearchParams);
  let prepared: Request;
  try {
    prepared = new Request(url, {
      method,
      redirect: "manual",
      headers: { ...(isJson && { "Content-Type": "application/json; charset=utf-8" }), ...request.headers },
      signal: AbortSignal.any([signal, timeout]),
      ...(body && { body: isJson ? JSON.stringify(body) : (body as URLSearchParams | string) }),
    });
  } catch {
    return { kind: "unsent", reason: "The configured address or secret cannot be used in a request." };
  }
  try {
    const response = await fetch(prepared);
    const { status, headers } = response;
    const text = await readText(response).catch((error) => {
      // A success without its body does not show whether the service accepted the message.
      if (status < 300) throw error;
    });
    return {
      kind: "response",
      status,
      headers,
      text: text ?? "",
      isTruncated: text === undefined,
      json: parse(text ?? ""),
    };
  } catch (error) {
    if (timeout.aborted) return { kind: "lost", reason: `There was no answer within ${timeoutMs / 1_000} seconds.` };
    if (signal.aborted) return { kind: "lost", reason: "The worker stopped before there was an answer." };
    const cause = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    const { code } = cause;
    // A host name with several addresses yields one error for each address tried.
    const faults: readonly NodeJS.ErrnoException[] = cause instanceof AggregateError ? cause.errors : [cause];
    return faults.every(isBeforeSending)
      ? { kind: "unsent", reason: `The service cannot be reached (${code ?? "network error"}).` }
      : { kind: "lost", reason: `The connection broke before there was an answer (${code ?? "network error"}).` };
  }
}

export type ApiCaller = (
  method: ApiRequest["method"],
  path: string,
  body: object | undefined,
  signal: AbortSignal,
) => Promise<RequestOutcome>;

/** Returns a function that sends requests to paths below `address`, each with these headers and this time limit. */
export const createApiCaller =
  (address: string, headers: Readonly<Record<string, string>>, timeoutMs: number): ApiCaller =>
  (method, path, body, signal) =>
    sendRequest({ method, url: address + path, headers, ...(body && { body }), timeoutMs }, signal);

function isBeforeSending({ code, syscall }: NodeJS.ErrnoException): boolean {
  if (syscall === "connect" || BEFORE_SENDING.includes(code)) return true;
  return String(code).includes("CERT") || NO_HANDSHAKE.test(String(code));
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    text += decoder.decode(chunk, { stream: true });
    if (bytes > MAX_RESPONSE_BYTES) break;
  }
  return text + decoder.decode();
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Returns a service's text on one line, cut to 300 characters, for use in a reason. */
export const excerpt = (words: unknown): string =>
  String(words ?? "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 300);
