import { APIConnectionError, APIError } from "openai";
import { AppError } from "../../shared/errors.ts";
import { failed } from "./turnErrors.ts";

/** Statuses below 500 that may pass by themselves: the server was too slow, was busy with the same, or had too much to do. */
const PASSING_STATUSES: readonly unknown[] = [408, 409, 429];

/** How an error in the middle of an answer, which has no status, says the same. */
const PASSING_TYPES: readonly unknown[] = [
  "server_error",
  "rate_limit_error",
  "rate_limit_exceeded",
  "overloaded_error",
];

/** A 429 with this code is no matter of time: the account has no credit. */
const NO_CREDIT = "insufficient_quota";

/**
 * What the SDK threw before it had an answer, or anything while the answer was read. Only status, code and type are looked
 * at and shown: messages quote prompts and parts of keys.
 */
export function fromThrown(thrown: unknown, phase: "asking" | "reading"): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof APIConnectionError) {
    if (thrown.cause instanceof AppError) return thrown.cause;
    return unavailable(`The model server cannot be reached${inBrackets(codeOf(thrown.cause))}.`);
  }
  if (thrown instanceof APIError && thrown.status !== undefined) {
    return fromStatus(thrown.status, thrown, thrown.headers, `The model server answered ${thrown.status}`);
  }
  if (phase === "asking")
    return failed("A setting under agents.runners.openai cannot be used: see baseUrl and headers.");
  if (thrown instanceof SyntaxError) return failed("The model server's answer is not JSON.");
  return unavailable(
    `The connection to the model server was lost in the middle of the answer${inBrackets(codeOf(thrown))}.`,
  );
}

/** What an answer of status 200, or a chunk of it, says of an error, in itself or in its choice. */
export interface Told {
  readonly error?: unknown;
}

/** Throws where an answer that began with status 200 tells of an error. One that broke off passes unless its code says 4xx. */
export function checkError(
  answer: Told,
  choice: (Told & { finish_reason?: unknown }) | undefined,
  headers: Headers,
): void {
  const brokeOff = choice?.error || choice?.finish_reason === "error";
  const error = choice?.error || answer.error;
  if (!brokeOff && !error) return;
  const { code, type } = (error ?? {}) as { code?: unknown; type?: unknown };
  const status = Number(code);
  const isUnknown = !(status >= 400 && status < 500);
  throw fromStatus(
    brokeOff && isUnknown ? 502 : status,
    { code, type },
    headers,
    "The model server answered 200 with an error",
  );
}

function fromStatus(
  status: number,
  { code, type }: { code?: unknown; type?: unknown },
  headers: Headers | undefined,
  what: string,
): AppError {
  const detail = `${what}${inBrackets(code, type)}.`;
  const passes = (status >= 500 && status < 600) || [status, code, type].some(isPassing);
  return passes && code !== NO_CREDIT && type !== NO_CREDIT
    ? unavailable(detail, headers && retryAfterSeconds(headers))
    : failed(detail);
}

function isPassing(value: unknown): boolean {
  return PASSING_STATUSES.includes(value) || PASSING_TYPES.includes(value);
}

/** The seconds that an answer asks to wait: its headers say milliseconds (OpenAI's own), seconds, or a date. */
function retryAfterSeconds(headers: Headers): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const candidates = [
    Number.parseFloat(headers.get("retry-after-ms") ?? "") / 1000,
    /^\d/.test(text) ? Number.parseFloat(text) : (Date.parse(text) - Date.now()) / 1000,
  ];
  return candidates.find(Number.isFinite);
}

/** Names in brackets, as far as they are names: what has another form may quote anything. */
function inBrackets(...values: unknown[]): string {
  const names = values.filter((value) => /^[\w.:-]{1,64}$/.test(String(value ?? "")));
  return names.length > 0 ? ` (${[...new Set(names)].join(", ")})` : "";
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}

function unavailable(detail: string, retryAfterSeconds?: number): AppError {
  return new AppError("agent_unavailable", {
    detail,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds: Math.max(0, retryAfterSeconds) }),
  });
}
