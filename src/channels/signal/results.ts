import { codeOf, type Failure } from "../httpStatus.ts";

/** signal-cli's result for one recipient of a message; a group has one for each member. */
export interface RecipientResult {
  readonly type?: unknown;
  /** Present if Signal demands a captcha. */
  readonly token?: unknown;
  readonly retryAfterSeconds?: unknown;
}

/** Delay while a captcha is pending, if signal-cli names none. */
const DEFAULT_CAPTCHA_WAIT_MS = 15 * 60_000;

const GONE: Readonly<Record<string, string>> = {
  UNREGISTERED_FAILURE: "this recipient is not on Signal.",
  IDENTITY_FAILURE: "the safety number of this recipient has changed: trust it with signal-cli first.",
};

/**
 * Classifies the results of a message; returns undefined if it was sent. A group message counts as sent once one member
 * received it, as a retry would deliver it to that member twice.
 */
export function classifyResults(results: readonly (RecipientResult | null)[]): Failure | undefined {
  const types = results.map((result) => codeOf(result?.type) ?? "no known result");
  if (types.length === 0 || types.includes("SUCCESS")) return undefined;
  if (types.includes("RATE_LIMIT_FAILURE")) {
    const seconds = Math.max(...results.map((result) => positiveOrZero(result?.retryAfterSeconds)));
    return classifyRateLimit(
      results.some((result) => Boolean(result?.token)),
      seconds > 0 ? seconds * 1_000 : null,
    );
  }
  const transient = types.find((type) => !Object.hasOwn(GONE, type));
  if (transient !== undefined)
    return { kind: "transient", reason: `Signal did not accept the message (${transient}).` };
  const type = types[0] ?? "";
  return { kind: "gone", reason: `Signal did not accept the message (${type}): ${GONE[type]}` };
}

/**
 * Classifies a rate limit: one with a captcha applies to the account, one without to the recipient. One with neither a captcha
 * nor a delay is `ambiguous`, because signal-cli 0.14 reports such limits also for messages that arrive.
 */
export function classifyRateLimit(needsCaptcha: boolean, afterMs: number | null): Failure {
  if (needsCaptcha) {
    const reason = "Signal limits the account until a captcha is solved: submitRateLimitChallenge of signal-cli.";
    return { kind: "rate-limited", retryAfterMs: afterMs ?? DEFAULT_CAPTCHA_WAIT_MS, scope: "channel", reason };
  }
  if (afterMs !== null) {
    const reason = "Signal limits messages to this recipient.";
    return { kind: "rate-limited", retryAfterMs: afterMs, scope: "recipient", reason };
  }
  return { kind: "ambiguous", reason: "Signal reports a limit without its end: the message may have arrived." };
}

const positiveOrZero = (value: unknown) => (typeof value === "number" && value > 0 ? value : 0);

/** The result for a text that is no recipient. */
export const INVALID_RECIPIENT = {
  kind: "gone",
  reason: "This is not a Signal recipient: use a number with its country code (+…), a UUID, group.… or u:name.",
} as const;
