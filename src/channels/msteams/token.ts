import { trimSlashes } from "../../shared/address.ts";
import type { Clock } from "../../shared/clock.ts";
import type { Config } from "../../shared/config/schema/config.ts";
import { askApi } from "../http.ts";
import { type Answered, answered, codeOf, type Failure, judgeStatus } from "../httpStatus.ts";

interface Token {
  readonly kind: "token";
  readonly value: string;
}

export interface TokenSource {
  /** The token of the moment, or why there is none. One request serves all who ask while it is under way. */
  get(signal: AbortSignal): Promise<Token | Failure>;
  /** The connector has refused it: not to be handed out again. */
  discard(token: Token): void;
  /** A new token, whatever there is. */
  request(signal: AbortSignal): Promise<Token | Failure>;
}

const LOGIN = "Microsoft's login";
const SCOPE = "https://api.botframework.com/.default";
const TIMEOUT_MS = 30_000;

/** So long before its end a token is no longer used: the clocks may differ, and a request takes its time. */
const MARGIN_SECONDS = 300;

/** Codes of the login that are no matter of what was configured. */
const PASSING: readonly string[] = ["temporarily_unavailable", "server_error"];

const STOPPED: Failure = { kind: "transient", reason: "The worker is stopping." };

/** Tokens for the Bot Framework's connector, by the app's client credentials. */
export function tokenSource(settings: NonNullable<Config["channels"]["msteams"]>, clock: Clock): TokenSource {
  const login = `${trimSlashes(settings.loginUrl)}/${encodeURIComponent(settings.tenantId)}/oauth2/v2.0/token`;
  let current: { readonly token: Token; readonly until: number } | undefined;
  let pending:
    | { readonly stop: AbortController; readonly answer: Promise<Token | Failure>; waiting: number }
    | undefined;

  async function request(signal: AbortSignal): Promise<Token | Failure> {
    const body = new URLSearchParams({
      grant_type: "client_credentials",
      client_id: settings.appId,
      client_secret: settings.appPassword,
      scope: SCOPE,
    });
    const answer = await askApi({ method: "POST", url: login, body, timeoutMs: TIMEOUT_MS }, signal);
    // No message was in it: nothing can have been sent.
    if (answer.kind !== "answer") return { kind: "transient", reason: `No token: ${answer.reason}` };
    const { access_token: value, expires_in: seconds } = answer.json ?? {};
    if (answer.status !== 200 || typeof value !== "string" || !value) return judge(answer);
    const token: Token = { kind: "token", value };
    const lifetime = typeof seconds === "object" ? 0 : Number(seconds) || 0;
    const used = lifetime - Math.min(MARGIN_SECONDS, lifetime / 2);
    current = { token, until: clock.now().getTime() + used * 1_000 };
    return token;
  }

  return {
    request,
    async get(signal) {
      if (signal.aborted) return STOPPED;
      if (current && current.until > clock.now().getTime()) return current.token;
      if (!pending) {
        const stop = new AbortController();
        pending = { stop, answer: request(stop.signal), waiting: 0 };
      }
      const joined = pending;
      joined.waiting++;
      try {
        return await orStopped(joined.answer, signal);
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

/** The answer, or that it was no longer waited for. */
function orStopped(answer: Promise<Token | Failure>, signal: AbortSignal): Promise<Token | Failure> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(STOPPED);
    signal.addEventListener("abort", stop);
    answer.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}

/** Only codes are shown: the login's words quote what was sent to it. */
function judge(answer: Answered): Failure {
  const { error, error_codes: numbers } = answer.json ?? {};
  const codes = [error, ...(Array.isArray(numbers) ? numbers : [])].map(codeOf).filter((code) => code !== undefined);
  const code = codes.join(", ") || undefined;
  const failure = judgeStatus(LOGIN, answer, code);
  if (failure.kind === "rate-limited" || failure.kind === "authentication") return failure;
  if (answer.status >= 400 && answer.status < 500 && code && !PASSING.includes(error)) {
    const reason = `${answered(LOGIN, answer.status, code)}: see appId, appPassword and tenantId.`;
    return { kind: "authentication", reason };
  }
  return { kind: "transient", reason: failure.reason };
}
