import { retryAfterMs } from "../../shared/retryAfter.ts";

/**
 * `authorization`: the consent or the key is dead, or lacks a scope; nobody but its owner can mend it. `limited`: a quota is
 * used up for now. `passing`: nothing was wrong with the request. `refused`: the same request would be refused again.
 */
export type GoogleFailure = "authorization" | "rate-limited" | "transient" | "refused";

/** Why Google did not do what it was asked. Its words are Google's codes and ours: no token, no address, no mail. */
export class GoogleError extends Error {
  readonly kind: GoogleFailure;
  readonly reason: string;
  /** Of the answer, where there was one. */
  readonly status: number | undefined;
  /** Google's own words for it, such as `SERVICE_DISABLED` or `invalid_grant`. */
  readonly codes: readonly string[];
  /** When the same may be asked again, where a limit tells it. */
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

/** The parts of an answer that are looked at; `body` is parsed JSON, or anything else where it was none. */
export interface GoogleResponse {
  readonly status: number;
  readonly headers: Headers;
  readonly body: unknown;
}

/** Gmail says most of them with a 403, Pub/Sub with a 429. */
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

/** Of a 403: the token is good, and was not given for this. */
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

/** An answer of Gmail or Pub/Sub that is no success, by its status and the reasons in it. */
export function fromResponse(service: string, answer: GoogleResponse): GoogleError {
  const { status } = answer;
  const codes = codesOf(answer.body);
  const kind =
    transientKind(status, codes) ??
    (status === 401 || includesAny(codes, MISSING_SCOPE_CODES) ? "authorization" : "refused");
  return failure(service, kind, answer, codes);
}

/** An answer of the token endpoint. OAuth has a code for each refusal; a refusal without one is not Google's. */
export function fromTokenResponse(service: string, answer: GoogleResponse): GoogleError {
  const { status, body } = answer;
  const codes = codesOf(body);
  const isOAuth = status >= 400 && status < 500 && codes.length > 0;
  return failure(service, transientKind(status, codes) ?? (isOAuth ? "authorization" : "refused"), answer, codes);
}

/** No answer: the network, a certificate, a time-out. */
export function fromNetworkError(service: string, thrown: unknown): GoogleError {
  const faults = causes(thrown);
  if (faults.some(({ name }) => name === "TimeoutError")) {
    return new GoogleError("transient", `${service} did not answer in time.`);
  }
  const code = faults.map((fault) => fault.code).find(isCode);
  return new GoogleError("transient", `${service} cannot be reached (${code ?? "network error"}).`);
}

function failure(service: string, kind: GoogleFailure, answer: GoogleResponse, codes: readonly string[]): GoogleError {
  const { status } = answer;
  const names = codes.length > 0 ? ` (${codes.join(", ")})` : "";
  return new GoogleError(kind, `${service} answered ${status}${names}.`, {
    ...{ status, codes, retryAfterMs: kind === "rate-limited" ? retryAfter(answer) : undefined },
  });
}

function transientKind(status: number, codes: readonly string[]): "rate-limited" | "transient" | undefined {
  if (status === 429 || includesAny(codes, RATE_LIMIT_CODES)) return "rate-limited";
  // A success that is told as a failure is one that could not be read: something between us and Google wrote it.
  return status < 300 || status === 408 || status >= 499 || includesAny(codes, TRANSIENT_CODES)
    ? "transient"
    : undefined;
}

/** `error` as OAuth has it, or `error.status`, `error.errors[].reason` and `error.details[].reason` as the other APIs do. */
function codesOf(body: unknown): string[] {
  const error = (body as { error?: unknown } | null | undefined)?.error;
  const { status, errors, details } = (error ?? {}) as { status?: unknown; errors?: unknown; details?: unknown };
  const reasons = [errors, details].flatMap((list) => (Array.isArray(list) ? list : [])).map((item) => item?.reason);
  return [...new Set([error, status, ...reasons].filter(isCode))];
}

/** What has another form may quote anything. */
const isCode = (value: unknown): value is string => typeof value === "string" && /^[\w.:-]{1,64}$/.test(value);

const includesAny = (codes: readonly string[], known: readonly string[]) => codes.some((code) => known.includes(code));

/** What `Retry-After` asks for, else the `retryDelay` ("3.5s") of a RetryInfo; in milliseconds. */
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
