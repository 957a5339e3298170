import { abortedOf, startDeadline, TIMED_OUT } from "./deadline.ts";
import { type Fault, SignalboxError } from "./error.ts";

export interface ConnectionOptions {
  /** Where the service is, such as `http://127.0.0.1:3000`; in a browser `""` is the page's own origin. */
  readonly url: string;
  /** The service's `server.apiToken`, where it has one. */
  readonly token?: string | undefined;
  /** What sends the requests; the platform's fetch by default. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** How long one request may take, 30 s by default. */
  readonly timeoutMs?: number | undefined;
}

interface Request {
  /** Its parameters: a list is repeated, undefined left out. */
  readonly query?: object | undefined;
  /** Sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** One request and its answer, without patience. */
export interface Connection {
  /** @returns the answer, which is a good one. @throws SignalboxError */
  open(method: string, path: string, request: Request & { signal: AbortSignal }): Promise<Response>;
  /** @returns the JSON of the answer, empty text for an empty one. @throws SignalboxError, or the signal's reason */
  call<T>(method: string, path: string, request?: Request): Promise<T>;
}

/** @param closed ends all calls */
export function connect(
  { url, token, fetch = globalThis.fetch, timeoutMs = 30_000 }: ConnectionOptions,
  closed: AbortSignal,
): Connection {
  const base = url.replace(/(?<!\/)\/+$/, "");
  if (base && !/^(https?:\/)?\//.test(base)) throw new TypeError("url must begin with http:// or https://.");
  const unreachable = (cause: Error): never => {
    const why = cause === TIMED_OUT ? `no answer within ${timeoutMs / 1000} s` : whyNot(cause);
    throw new SignalboxError(0, "unreachable", `The service at ${base} cannot be reached (${why}).`, { cause });
  };

  const open: Connection["open"] = async (method, path, { query, body, headers, signal }) => {
    const known = { Authorization: token && `Bearer ${token}`, "Content-Type": body && "application/json", ...headers };
    // The last of one name counts, however it is written: fetch would send both in one.
    const named = new Map(Object.entries(known).map(([name, value]) => [name.toLowerCase(), value]));
    const sent = [...named].filter(([, value]) => value) as [string, string][];
    const json = JSON.stringify(body) as string; // of none it is none
    const response = await fetch(base + path + search(query), { method, signal, headers: sent, body: json }).catch(
      unreachable,
    );
    if (!response.ok) throw toError(response, (await response.json().catch(() => {})) ?? {});
    return response;
  };

  const call = async <T>(method: string, path: string, request: Request = {}): Promise<T> => {
    const signals = [request.signal, closed];
    const deadline = startDeadline(timeoutMs, signals);
    try {
      const response = await open(method, path, { ...request, signal: deadline.signal });
      const text = await response.text().catch(unreachable);
      return text && parse(response, text);
    } catch (error) {
      // Whoever has ended it hears his own reason.
      throw abortedOf(signals)?.reason ?? error;
    } finally {
      deadline.end();
    }
  };
  return { open, call };
}

/**
 * An identifier as a part of a path.
 * @throws SignalboxError for those that no URL can carry: the platform would make another path of them
 */
export function segment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new SignalboxError(400, "invalid_query", `No URL can carry "${id}".`);
  return `/${encodeURIComponent(id)}`;
}

function search(query: object = {}): string {
  const pairs = Object.entries(query).flatMap(([name, value]: [string, unknown]) =>
    value === undefined ? [] : [value].flat().map((one) => [name, one]),
  );
  return pairs[0] ? `?${new URLSearchParams(pairs as [string, string][])}` : ""; // which makes text of numbers and booleans
}

function parse(response: Response, text: string) {
  try {
    return JSON.parse(text);
  } catch {
    throw toError(response);
  }
}

type Problem = Partial<Record<"code" | "title" | "detail", string>> & { errors?: Fault[] };

/** What says nothing comes from something else at this address. */
export function toError({ status, headers }: Response, problem: Problem = {}): SignalboxError {
  const { code = "unexpected_answer", title = `No answer of this service (${status}): check the URL.` } = problem;
  const { detail = title, errors } = problem;
  return new SignalboxError(status, code, detail, { errors, retryAfterMs: retryAfterMs(headers) });
}

/** Seconds, or a date. */
function retryAfterMs(headers: Headers): number | undefined {
  const value = headers.get("Retry-After");
  if (!value) return undefined;
  const ms = Number(value) * 1000;
  return Math.max(0, Number.isNaN(ms) ? Date.parse(value) - Date.now() : ms) || 0;
}

/** In no words of fetch's own: where a header cannot be sent they hold it, and it may be the token. */
function whyNot({ cause }: Error): string {
  return (cause as { code?: string } | undefined)?.code ?? "fetch failed";
}
