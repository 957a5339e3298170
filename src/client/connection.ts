import { abortedOf, startDeadline, TIMED_OUT } from "./deadline.ts";
import { type Fault, SignalboxError } from "./error.ts";
import type { JobFilter } from "./records/options.ts";

export interface ConnectionOptions {
  /** The service's base URL, such as `http://127.0.0.1:3000`; in a browser `""` is the page's own origin. */
  readonly url: string;
  /** The service's `server.apiToken`, if one is configured. */
  readonly token?: string | undefined;
  /** The function that sends the requests; the platform's fetch by default. */
  readonly fetch?: typeof globalThis.fetch | undefined;
  /** Maximum duration of one request; 30 s by default. */
  readonly timeoutMs?: number | undefined;
}

interface Request {
  /** The query parameters: arrays are repeated, except `fields`, which is a list; undefined values are left out. */
  readonly query?: object | undefined;
  /** The body, which is sent as JSON. */
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string | undefined>> | undefined;
  readonly signal?: AbortSignal | undefined;
  /** How long the service may hold the request, which adds to the time limit. */
  readonly waitMs?: number | undefined;
}

/** Sends single requests, without retries. */
export interface Connection {
  /**
   * Returns the response as soon as its headers have arrived.
   * @throws SignalboxError unless its status is 2xx
   */
  open(method: string, path: string, request: Request & { signal: AbortSignal }): Promise<Response>;
  /**
   * Returns the parsed JSON of the response, or an empty string for an empty body.
   * @throws SignalboxError, or the signal's reason
   */
  call<T>(method: string, path: string, request?: Request): Promise<T>;
}

/** @param closed aborts all calls */
export function connect(
  { url, token, fetch = globalThis.fetch, timeoutMs = 30_000 }: ConnectionOptions,
  closed: AbortSignal,
): Connection {
  const base = url.trim().replace(/(?<!\/)\/+$/, "");
  // A request that can never work is not retried. A user, a query and a token are secrets, which no error may hold.
  const canParse = URL.canParse?.(base, globalThis.location as unknown as URL);
  if (canParse === false || !/^((https?:\/)?\/[^?#@\s]*)?\n[ -~]*[\t\r\n]*$/.test(`${base}\n${token}`))
    throw new TypeError(`"${/[?#@]/.test(base) ? "url" : base}" is not http(s)://HOST:PORT, token ASCII.`);
  const throwUnreachable = (cause: Error): never => {
    // Only the code is named: the message of fetch quotes an invalid header, which may hold the token.
    const { code = "fetch failed", message } = Object(cause.cause) as { code?: string; message?: string };
    const why = cause === TIMED_OUT ? `no answer within ${timeoutMs / 1000} s` : code;
    // https://fetch.spec.whatwg.org/#port-blocking: only this message says so. The status 400 is not retried.
    const [status, reason] =
      message === "bad port" ? [400, ": fetch blocks its port. Use another."] : [0, ` (${why}).`];
    throw new SignalboxError(status, "unreachable", `The service at ${base} cannot be reached${reason}`, { cause });
  };

  const open: Connection["open"] = async (method, path, { query = {}, body, headers, signal }) => {
    const all = { Authorization: token && `Bearer ${token}`, "Content-Type": body && "application/json", ...headers };
    // Later headers replace earlier ones regardless of case: fetch would join both values into one header.
    const byName = new Map(Object.entries(all).map(([name, value]) => [name.toLowerCase(), value]));
    const sent = [...byName].filter(([, value]) => value) as [string, string][];
    const json = JSON.stringify(body) as string; // undefined without a body
    const pairs = Object.entries(query).flatMap(([name, value]: [string, unknown]) =>
      value === undefined ? [] : [name === "fields" ? String(value) : value].flat().map((one) => [name, one]),
    );
    // URLSearchParams converts numbers and booleans to text.
    const search = String(new URLSearchParams(pairs as [string, string][]));
    const url = base + path + (search && `?${search}`);
    // A followed redirect would send the body to an address that nobody has chosen.
    const init = { method, signal, headers: sent, body: json, redirect: "manual" } as const;
    const response = await fetch(url, init).catch(throwUnreachable);
    if (!response.ok) throw toError(response, (await response.json().catch(() => {})) ?? {});
    return response;
  };

  const call = async <T>(method: string, path: string, request: Request = {}): Promise<T> => {
    const signals = [request.signal, closed];
    const deadline = startDeadline(timeoutMs + (request.waitMs ?? 0), signals);
    try {
      const response = await open(method, path, { ...request, signal: deadline.signal });
      const text = await response.text().catch(throwUnreachable);
      try {
        return text && JSON.parse(text);
      } catch {
        throw toError(response);
      }
    } catch (error) {
      // An aborted call throws the reason of its own signal.
      throw abortedOf(signals)?.reason ?? error;
    } finally {
      deadline.end();
    }
  };
  return { open, call };
}

/** Converts a filter to query parameters. */
export const filterQuery = <Filter extends JobFilter>({ metadata = {}, ...filter }: Filter) => ({
  ...filter,
  ...Object.fromEntries(Object.entries(metadata).map(([key, value]) => [`metadata.${key}`, value])),
});

/**
 * Encodes an identifier as one pathSegment of a path, with its leading slash.
 * @throws SignalboxError for "", "." and "..", which the URL parser would resolve to another path
 */
export function pathSegment(id: string): string {
  if (/^\.{0,2}$/.test(id)) throw new SignalboxError(400, "invalid_query", `"${id}" cannot be part of a URL.`);
  return `/${encodeURIComponent(id)}`;
}

type Problem = Partial<Record<"code" | "title" | "detail", string>> & { errors?: Fault[] };

/**
 * Converts an error response. A response without a problem's `code` comes from another server at this address. The error for a
 * redirect names the new address without its user and query, unless the platform hides it, as browsers do.
 */
export function toError({ status, headers }: Response, problem: Problem = {}): SignalboxError {
  const to = headers.get("Location")?.replace(/(?<=\/\/)[^/]*@|[?#].*/g, "");
  const what = to ? `redirects to ${to}` : `is not from Signalbox (status ${status})`;
  const { code = "unexpected_answer", title = `The response ${what}: check the URL.` } = problem;
  const { detail = title, errors = [] } = problem;
  const after = headers.get("Retry-After") as string; // seconds or a date
  const retryAfterMs = Math.max(0, (after as unknown as number) * 1000 || Date.parse(after) - Date.now()) || undefined;
  return new SignalboxError(status || 302, code, detail, { errors, retryAfterMs });
}
