import { setTimeout as delay } from "node:timers/promises";

/** An answer that sending the same request again would not change. */
export class Refused extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, detail: string) {
    super(detail);
    this.status = status;
    this.code = code;
  }
}

/** The service did not answer, however often it was asked. */
export class Unreachable extends Error {}

export interface Signalbox {
  readonly url: string;
  /**
   * Sends a request and gives the JSON of the answer. While the service is away, overloaded (429) or not ready (503), it
   * waits and tries again; every call of this API may be sent twice.
   * @throws Refused for any other answer than 2xx, Unreachable when there is none
   */
  call<T>(method: "GET" | "PUT", path: string, body?: object): Promise<T>;
}

const TRIES = 6;
const FIRST_PAUSE_MS = 200;
const LONGEST_PAUSE_MS = 5_000;
const TIMEOUT_MS = 30_000;
const PASSING = new Set([429, 502, 503, 504]);

export function connect(url: string, token: string | undefined): Signalbox {
  const headers = { "Content-Type": "application/json", ...(token && { Authorization: `Bearer ${token}` }) };
  const send = (method: string, path: string, body: object | undefined) =>
    fetch(url + path, {
      method,
      headers,
      signal: AbortSignal.timeout(TIMEOUT_MS),
      ...(body && { body: JSON.stringify(body) }),
    });
  return {
    url,
    async call<T>(method: string, path: string, body?: object) {
      let why = "";
      for (let tries = 1; tries <= TRIES; tries++) {
        const response = await send(method, path, body).catch((error: Error) => error);
        if (response instanceof Error) why = reason(response);
        else if (!PASSING.has(response.status)) return read<T>(response);
        else why = `it answers ${response.status}`;
        if (tries < TRIES) await delay(pauseMs(tries, response instanceof Error ? null : response));
      }
      throw new Unreachable(`The service at ${url} cannot be used (${why}).`);
    },
  };
}

/** Twice as long each time, and never shorter than the service asks for. */
function pauseMs(tries: number, response: Response | null): number {
  const asked = Number(response?.headers.get("Retry-After") ?? 0) * 1_000 || 0;
  return Math.min(LONGEST_PAUSE_MS, Math.max(asked, FIRST_PAUSE_MS * 2 ** (tries - 1)));
}

function reason(error: Error): string {
  const cause = error.cause as { code?: string } | undefined;
  return cause?.code ?? error.message;
}

/** Errors are RFC 9457 problems: `code` is stable, `detail` is for people. */
async function read<T>(response: Response): Promise<T> {
  const text = await response.text();
  if (response.ok) return JSON.parse(text);
  const problem = isJson(response) ? JSON.parse(text) : {};
  throw new Refused(response.status, problem.code ?? "unknown", problem.detail ?? `the answer was ${response.status}`);
}

function isJson(response: Response): boolean {
  return response.headers.get("Content-Type")?.includes("json") ?? false;
}
