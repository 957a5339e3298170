import type { Config } from "../../config/config.ts";
import { trimSlashes } from "../../shared/address.ts";
import type { Clock } from "../../shared/clock.ts";
import { sendRequest } from "../http.ts";
import { type ApiResponse, classifyStatus, codeOf, describeResponse, type Failure } from "../httpStatus.ts";

interface Token {
  readonly kind: "token";
  readonly value: string;
}

export interface TokenSource {
  /** Returns the cached token or requests one; concurrent callers share one request. */
  get(signal: AbortSignal): Promise<Token | Failure>;
  /** Removes a token that the connector has refused from the cache. */
  discard(token: Token): void;
  /** Requests a new token, whether or not one is cached. */
  request(signal: AbortSignal): Promise<Token | Failure>;
}

const LOGIN = "Microsoft's login";
const SCOPE = "https://api.botframework.com/.default";
const TIMEOUT_MS = 30_000;

/** How long before its expiry a token is replaced; allows for different clocks and slow requests. */
const MARGIN_SECONDS = 300;

/** Error codes of the login that have nothing to do with the configuration. */
const TRANSIENT_CODES: readonly string[] = ["temporarily_unavailable", "server_error"];

const STOPPED: Failure = { kind: "transient", reason: "The worker is stopping." };

/** Creates a source of tokens for the Bot Framework's connector, obtained with the app's client credentials. */
export function tokenSource(settings: NonNullable<Config["channels"]["msteams"]>, clock: Clock): TokenSource {
  const login = `${trimSlashes(settings.loginUrl)}/${encodeURIComponent(settings.tenantId)}/oauth2/v2.0/token`;
  let current: { readonly token: Token; readonly until: number } | undefined;
  let pending:
    | { readonly stop: AbortController; readonly token: Promise<Token | Failure>; waiting: number }
    | undefined;

  async function request(signal: AbortSignal): Promise<Token | Failure> {
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: settings.appId,
      client_secret: settings.appPassword,
      scope: SCOPE,
    });
    const response = await sendRequest({ method: "POST", url: login, body, timeoutMs: TIMEOUT_MS }, signal);
    // Never `ambiguous`: the request contained no message.
    if (response.kind !== "response") return { kind: "transient", reason: `No token: ${response.reason}` };
    const { access_token: value, expires_in: seconds } = response.json ?? {};
    if (response.status !== 200 || typeof value !== "string" || !value) return classify(response);
    const token: Token = { kind: "token", value };
    const lifetime = typeof seconds === "object" ? 0 : Number(seconds) || 0;
    const usableSeconds = lifetime - Math.min(MARGIN_SECONDS, lifetime / 2);
    current = { token, until: clock.now().getTime() + usableSeconds * 1_000 };
    return token;
  }

  return {
    request,
    async get(signal) {
      if (signal.aborted) return STOPPED;
      if (current && current.until > clock.now().getTime()) return current.token;
      if (!pending) {
        const stop = new AbortController();
        pending = { stop, token: request(stop.signal), waiting: 0 };
      }
      const joined = pending;
      joined.waiting++;
      try {
        return await unlessAborted(joined.token, signal);
      } finally {
        if (--joined.waiting === 0) {
          joined.stop.abort();
          if (pending === joined) pending = undefined;
        }
      }
    },
    discard(token) {
      if (current?.token === token) current = undefined;
    },
  };
}

/** Resolves like `token`, or with `STOPPED` as soon as the signal is aborted. */
function unlessAborted(token: Promise<Token | Failure>, signal: AbortSignal): Promise<Token | Failure> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(STOPPED);
    signal.addEventListener("abort", stop);
    token.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Classifies a failed request for a token. The reason shows only codes: the login's texts quote the request. */
function classify(response: ApiResponse): Failure {
  const { error, error_codes: numbers } = response.json ?? {};
  const codes = [error, ...(Array.isArray(numbers) ? numbers : [])].map(codeOf).filter((code) => code !== undefined);
  const code = codes.join(", ") || undefined;
  const failure = classifyStatus(LOGIN, response, code);
  if (failure.kind === "rate-limited" || failure.kind === "authentication") return failure;
  if (response.status >= 400 && response.status < 500 && code && !TRANSIENT_CODES.includes(error)) {
    const reason = `${describeResponse(LOGIN, response.status, code)}: see appId, appPassword and tenantId.`;
    return { kind: "authentication", reason };
  }
  return { kind: "transient", reason: failure.reason };
}
