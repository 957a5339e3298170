/** One request to a service. */
export interface ApiRequest {
  readonly method: "GET" | "POST";
  readonly url: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Sent as JSON, or as a form where it is URLSearchParams. */
  readonly body?: object;
  /** From the beginning to the end of the answer. */
  readonly timeoutMs: number;
}

/**
 * `answer`: the service has answered, whatever it says; `json` is undefined where the body is no JSON. `unsent`: surely
 * nothing has reached it. `lost`: it may have; `reason` tells why.
 */
export type ApiResult =
  | {
      readonly kind: "response";
      readonly status: number;
      readonly headers: Headers;
      readonly text: string;
      /** The body broke off or did not end in time: `text` is empty, the status and the headers say what they say. */
      readonly isTruncated: boolean;
      // biome-ignore lint/suspicious/noExplicitAny: a service's answer has whatever shape it has; each channel looks with care
      readonly json: any;
    }
  | { readonly kind: "unsent"; readonly reason: string }
  | { readonly kind: "lost"; readonly reason: string };

/** What happens before anything of a request is on its way. */
const BEFORE_SENDING: readonly unknown[] = [
  "ECONNREFUSED",
  "ENOTFOUND",
  "EAI_AGAIN",
  "UND_ERR_CONNECT_TIMEOUT",
  "UNABLE_TO_VERIFY_LEAF_SIGNATURE",
];

/** What a TLS handshake says that found no version or cipher to agree on. */
const NO_HANDSHAKE = /^ERR_SSL_.*(_VERSION|_HANDSHAKE_FAILURE|_UNSUPPORTED_PROTOCOL)/;

const MAX_RESPONSE_BYTES = 1024 * 1024;

/**
 * Asks a service once. Redirects are not followed: a token goes nowhere but where it was configured to go. Never throws;
 * `reason` says the kind of failure and no address.
 */
export async function sendRequest(request: ApiRequest, signal: AbortSignal): Promise<ApiResult> {
  const { method, url, body, timeoutMs } = request;
  if (signal.aborted) return { kind: "unsent", reason: "The worker is stopping." };
  const timeout = AbortSignal.timeout(timeoutMs);
  const isForm = body instanceof URLSearchParams;
  let prepared: Request;
  try {
    prepared = new Request(url, {
      method,
      redirect: "manual",
      headers: { ...(body && !isForm && { "Content-Type": "application/json; charset=utf-8" }), ...request.headers },
      signal: AbortSignal.any([signal, timeout]),
      ...(body && { body: isForm ? body : JSON.stringify(body) }),
    });
  } catch {
    return { kind: "unsent", reason: "The settings have an address or a secret that no request can be made with." };
  }
  try {
    const response = await fetch(prepared);
    const { status, headers } = response;
    const text = await readText(response).catch((error) => {
      // Whether it took the request, only the body would have told.
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
    // Of a name with several addresses: one for each that was tried.
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
) => Promise<ApiResult>;

/** Asks one service at an address, each time with these headers. */
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

/** A service's own words for a reason: on one line, and not too many. */
export const excerpt = (words: unknown): string =>
  String(words ?? "")
    .replace(/\s+/g, " ")
    .trim()
    .slice(0, 300);
