import { retryAfterMs } from "../../shared/backoff.ts";

/**
 * `authorization`: the consent or the key is invalid or lacks a scope, which only its owner can fix. `rate-limited`: a quota
 * is used up for now. `transient`: the request was valid and may succeed later. `refused`: the same request would fail again.
 */
export type GoogleFailure = "authorization" | "rate-limited" | "transient" | "refused";

/** A failed request to Google. The message holds only Google's codes and our own text: no token, address or mail. */
export class GoogleError extends Error {
  readonly kind: GoogleFailure;
  readonly reason: string;
  /** HTTP status, if there was a response. */
  readonly status: number | undefined;
  /** Google's error codes, such as `SERVICE_DISABLED` or `invalid_grant`. */
  readonly codes: readonly string[];
  /** Delay before the same request may be sent again, if a rate limit names one. */
  readonly retryAfterMs: number | undefined;

  constructor(
    kind: GoogleFailure,
    reason: string,
    options: { status?: number; codes?: readonly string[]; retryAfterMs?: number | undefined } = {},
  ) {
    super(reason);
    this.name = "GoogleError";
    this.kind = kind;
    this.reason = reason;
    this.status = options.status;
    this.codes = options.codes ?? [];
    this.retryAfterMs = options.retryAfterMs;
  }
}

/** The parts of a response that determine the error. `body` is parsed JSON, or any other value if the body was not JSON. */
export interface GoogleResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Codes of rate limits. Gmail returns most of them with status 403, Pub/Sub with 429. */
const RATE_LIMIT_CODES: readonly string[] = [
  "rateLimitExceeded",
  "userRateLimitExceeded",
  "concurrentLimitExceeded",
  "dailyLimitExceeded",
  "quotaExceeded",
  "RATE_LIMIT_EXCEEDED",
  "RESOURCE_EXHAUSTED",
  "rate_limit_exceeded",
];

/** Codes of a 403 for a valid token without the required scope. */
const MISSING_SCOPE_CODES: readonly string[] = ["insufficientPermissions", "ACCESS_TOKEN_SCOPE_INSUFFICIENT"];

const TRANSIENT_CODES: readonly string[] = [
  "ABORTED",
  "CANCELLED",
  "DEADLINE_EXCEEDED",
  "UNAVAILABLE",
  "backendError",
  "server_error",
  "temporarily_unavailable",
  "internal_failure",
];

/** Creates the error for a failed response of Gmail or Pub/Sub, from its status and codes. */
export function fromResponse(service: string, response: GoogleResponse): GoogleError {
  const { status } = response;
  const codes = codesOf(response.body);
  const kind =
    transientKind(status, codes) ??
    (status === 401 || includesAny(codes, MISSING_SCOPE_CODES) ? "authorization" : "refused");
  return failure(service, kind, response, codes);
}

/**
 * Creates the error for a response of the token endpoint. OAuth defines a code for each refusal; one without a code does not
 * come from Google.
 */
export function fromTokenResponse(service: string, response: GoogleResponse): GoogleError {
  const { status, body } = response;
  const codes = codesOf(body);
  const isOAuth = status >= 400 && status < 500 && codes.length > 0;
  return failure(service, transientKind(status, codes) ?? (isOAuth ? "authorization" : "refused"), response, codes);
}

/** Creates the error for a request without a response: a network failure, an invalid certificate or a time-out. */
export function fromNetworkError(service: string, thrown: unknown): GoogleError {
  const faults = causes(thrown);
  if (faults.some(({ name }) => name === "TimeoutError")) {
    return new GoogleError("transient", `${service} did not answer in time.`);
  }
  const code = faults.map((fault) => fault.code).find(isCode);
  return new GoogleError("transient", `${service} cannot be reached (${code ?? "network error"}).`);
}

function failure(
  service: string,
  kind: GoogleFailure,
  response: GoogleResponse,
  codes: readonly string[],
): GoogleError {
  const { status } = response;
  const names = codes.length > 0 ? ` (${codes.join(", ")})` : "";
  return new GoogleError(kind, `${service} answered ${status}${names}.`, {
    status,
    codes,
    retryAfterMs: kind === "rate-limited" ? retryAfter(response) : undefined,
  });
}

function transientKind(status: number, codes: readonly string[]): "rate-limited" | "transient" | undefined {
  if (status === 429 || includesAny(codes, RATE_LIMIT_CODES)) return "rate-limited";
  // A success that arrives here could not be parsed: a proxy between us and Google wrote it.
  return status < 300 || status === 408 || status >= 499 || includesAny(codes, TRANSIENT_CODES)
    ? "transient"
    : undefined;
}

/** Returns OAuth's `error`, or `error.status`, `error.errors[].reason` and `error.details[].reason` of the other APIs. */
function codesOf(body: unknown): string[] {
  const error = (body as { error?: unknown } | null | undefined)?.error;
  const { status, errors, details } = (error ?? {}) as { status?: unknown; errors?: unknown; details?: unknown };
  const reasons = [errors, details].flatMap((list) => (Array.isArray(list) ? list : [])).map((item) => item?.reason);
  return [...new Set([error, status, ...reasons].filter(isCode))];
}

/** Returns whether a value has the form of a code; any other text may quote anything and is not shown. */
const isCode = (value: unknown): value is string => typeof value === "string" && /^[\w.:-]{1,64}$/.test(value);

const includesAny = (codes: readonly string[], others: readonly string[]) =>
  codes.some((code) => others.includes(code));

/** Returns the delay of `Retry-After`, else the `retryDelay` ("3.5s") of a RetryInfo, in milliseconds. */
function retryAfter({ headers, body }: GoogleResponse): number | undefined {
  const details = (body as { error?: { details?: unknown } } | null | undefined)?.error?.details;
  const delays = (Array.isArray(details) ? details : []).map((detail) => detail?.retryDelay);
  const delay = delays.map((value) => /^(\d+(?:\.\d+)?)s$/.exec(String(value))?.[1]).find((seconds) => seconds);
  return retryAfterMs(headers) ?? (delay === undefined ? undefined : Number(delay) * 1_000);
}

function causes(thrown: unknown): { name?: unknown; code?: unknown; cause?: unknown }[] {
  const found = [];
  for (let fault = thrown; typeof fault === "object" && fault && found.length < 8; fault = (fault as Error).cause) {
    found.push(fault as Error);
  }
  return found;
}
