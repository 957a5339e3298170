import { codeOf, type Failure } from "../httpStatus.ts";

/** What signal-cli says of one recipient of a message; of a group, one for each member. */
export interface RecipientResult {
  readonly type?: unknown;
  /** There is one where Signal asks for a captcha. */
  readonly token?: unknown;
  readonly retryAfterSeconds?: unknown;
}

/** How long a captcha is given when signal-cli does not say. */
const DEFAULT_CAPTCHA_WAIT_MS = 15 * 60_000;

const GONE: Readonly<Record<string, string>> = {
  UNREGISTERED_FAILURE: "this recipient is not on Signal.",
  IDENTITY_FAILURE: "this recipient's safety number is another one than it was: trust it with signal-cli first.",
};

/**
 * What became of a message of which signal-cli says this. Once one member of a group has it, it is sent: again would be twice
 * for them.
 * @returns nothing where it is sent
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
  if (transient !== undefined) return { kind: "transient", reason: `Signal did not take it (${transient}).` };
  const type = types[0] ?? "";
  return { kind: "gone", reason: `Signal did not take it (${type}): ${GONE[type]}` };
}

/**
 * A limit with a captcha is the account's, one without the recipient's. One that says neither a captcha nor how long is not
 * believed: signal-cli 0.14 has reported such ones of messages that arrived, and a limit is tried again for a day.
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
