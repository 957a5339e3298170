import { APIConnectionError, APIError } from "openai";
import { AppError, type AppErrorOptions } from "../../shared/errors.ts";
import { isObject } from "../../shared/text/json.ts";
import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import { agentFailed, maskSecrets } from "./turnErrors.ts";

/** Transient statuses below 500: the server was too slow, already handles the same request, or is overloaded. */
const TRANSIENT_STATUSES: readonly unknown[] = [408, 409, 429];

/** Codes and types of transient errors in the middle of an answer, where there is no status. */
const TRANSIENT_TYPES: readonly unknown[] = [
  "server_error",
  "rate_limit_error",
  "rate_limit_exceeded",
  "overloaded_error",
];

/** A 429 with this code is not transient: the account has no credit. */
const NO_CREDIT = "insufficient_quota";

/**
 * Converts an error that the SDK threw before the answer began, or any error while the answer was read. The message contains
 * only status, code and type; the server's own sentence, which may quote the prompt, is the error's `quote`.
 * @param secrets the key and the headers of the request, which are masked
 */
export function toAppError(thrown: unknown, phase: "asking" | "reading", secrets: readonly string[]): AppError {
  if (thrown instanceof AppError) return thrown;
  if (thrown instanceof APIConnectionError) {
    if (thrown.cause instanceof AppError) return thrown.cause;
    return unavailable(`The model server cannot be reached${inBrackets(codeOf(thrown.cause))}.`);
  }
  if (thrown instanceof APIError && thrown.status !== undefined) {
    return fromStatus(thrown.status, thrown, thrown.headers, `The model server answered ${thrown.status}`, secrets);
  }
  if (phase === "asking")
    return agentFailed("A setting under agents.runners.openai is invalid. Check baseUrl and headers.");
  if (thrown instanceof SyntaxError) return agentFailed("The model server's answer is not JSON.");
  return unavailable(
    `The connection to the model server was lost in the middle of the answer${inBrackets(codeOf(thrown))}.`,
  );
}

/** The error field of an answer with status 200, of a chunk of it, or of a choice. */
export interface ErrorFields {
  readonly error?: unknown;
}

/**
 * Throws the error in an answer with status 200, if there is one. An answer that broke off is a transient error unless its
 * code is 4xx.
 * @param secrets as of `toAppError`
 * @throws AppError agent_unavailable, agent_failed
 */
export function throwIfError(
  answer: ErrorFields,
  choice: (ErrorFields & { finish_reason?: unknown }) | undefined,
  headers: Headers,
  secrets: readonly string[],
): void {
  const brokeOff = choice?.error || choice?.finish_reason === "error";
  const error = choice?.error || answer.error;
  if (!brokeOff && !error) return;
  const { code, type } = (isObject(error) ? error : {}) as { code?: unknown; type?: unknown };
  const status = Number(code);
  const isUnknown = !(status >= 400 && status < 500);
  throw fromStatus(
    brokeOff && isUnknown ? 502 : status,
    { code, type, error },
    headers,
    "The model server answered 200 with an error",
    secrets,
  );
}

function fromStatus(
  status: number,
  { code, type, error }: { code?: unknown; type?: unknown; error?: unknown },
  headers: Headers | undefined,
  what: string,
  secrets: readonly string[],
): AppError {
  const detail = `${what}${inBrackets(code, type)}.`;
  const quote = serverSentence(error, secrets);
  const mayRecover = (status >= 500 && status < 600) || [status, code, type].some(isTransient);
  return mayRecover && code !== NO_CREDIT && type !== NO_CREDIT
    ? unavailable(detail, { retryAfterSeconds: headers && retryAfterSeconds(headers), quote })
    : agentFailed(detail, quote);
}

/** Maximum characters of the server's own sentence. */
const MAX_SENTENCE_LENGTH = 300;

/** Matches a word that begins as the keys of providers do: `sk-…`, `gsk_…`, `AIza…`. */
const KEY = /^\W*(?:(?:sk|pk|rk|gsk|hf|xai|key|api|pplx|ghp)[-_]|AIza)[\w.*-]{8,}/i;

/** Returns whether a word is a key, perhaps one that the server has shortened by `***`, or follows `Bearer`. */
const isKey = (word: string, i: number, words: readonly string[]): boolean =>
  KEY.test(word) || word.includes("***") || /^bearer$/i.test(words[i - 1] ?? "");

/** Returns what a server says about an error (OpenAI: `error.message`; others: a text), on one line and with keys masked. */
function serverSentence(error: unknown, secrets: readonly string[]): string | undefined {
  const words = isObject(error) ? error.message : error;
  if (typeof words !== "string") return undefined;
  const line = sanitizeText(words).replace(/\s+/g, " ").trim();
  const start = maskSecrets(line, secrets).slice(0, 2 * MAX_SENTENCE_LENGTH);
  const masked = start.split(" ").map((word, i, words) => (isKey(word, i, words) ? "…" : word));
  return masked.join(" ").slice(0, MAX_SENTENCE_LENGTH).toWellFormed() || undefined;
}

function isTransient(value: unknown): boolean {
  return TRANSIENT_STATUSES.includes(value) || TRANSIENT_TYPES.includes(value);
}

/** Returns the seconds to wait from the headers, which give milliseconds (OpenAI's own header), seconds or a date. */
function retryAfterSeconds(headers: Headers): number | undefined {
  const text = headers.get("retry-after") ?? "";
  const candidates = [
    Number.parseFloat(headers.get("retry-after-ms") ?? "") / 1000,
    /^\d/.test(text) ? Number.parseFloat(text) : (Date.parse(text) - Date.now()) / 1000,
  ];
  return candidates.find(Number.isFinite);
}

/** Returns the values in brackets. Values that do not look like codes are omitted, as they may quote anything. */
function inBrackets(...values: unknown[]): string {
  const names = values.filter((value) => /^[\w.:-]{1,64}$/.test(String(value ?? "")));
  return names.length > 0 ? ` (${[...new Set(names)].join(", ")})` : "";
}

function codeOf(error: unknown): unknown {
  return (error as { code?: unknown } | undefined)?.code;
}

function unavailable(
  detail: string,
  { retryAfterSeconds, quote }: Pick<AppErrorOptions, "retryAfterSeconds" | "quote"> = {},
): AppError {
  return new AppError("agent_unavailable", {
    detail,
    quote,
    ...(retryAfterSeconds !== undefined && { retryAfterSeconds: Math.max(0, retryAfterSeconds) }),
  });
}
