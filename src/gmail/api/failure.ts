import { backoff, MAX_RETRY_AFTER_MS } from "../../shared/backoff.ts";
import { AppError } from "../../shared/errors.ts";
import { StartError } from "../../shared/process/lifecycle.ts";
import { GoogleError } from "./googleError.ts";

/** The cause of a failed action of the listener, and when to retry it. */
export interface Failure {
  readonly reason: string;
  /** Whether the failure persists until somebody fixes its cause. */
  readonly isLasting: boolean;
  /** Minimum delay before the next try, if Google names one. */
  readonly retryAfterMs?: number | undefined;
  /** Maximum delay before the next try (default five minutes). */
  readonly retryWithinMs?: number;
  /** Whether the error is of an unexpected kind, so that the log must include it. */
  readonly isUnexpected?: boolean;
}

const FIRST_RETRY_MS = 1_000;
/** First delay after a lasting failure, which is retried slowly from the start. */
const FIRST_LASTING_RETRY_MS = 60_000;
const MAX_RETRY_MS = 300_000;
/** Maximum delay after a failure of our own servers, which serve no other clients. */
const MAX_OWN_RETRY_MS = 15_000;

export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof GoogleError) {
    const { reason, kind, retryAfterMs } = thrown;
    return { reason, isLasting: kind === "authorization" || kind === "refused", retryAfterMs };
  }
  if (thrown instanceof StartError) return { reason: thrown.message, isLasting: true };
  if (thrown instanceof AppError) return { reason: thrown.message, isLasting: false, retryWithinMs: MAX_OWN_RETRY_MS };
  return {
    reason: "The listener had an internal error: see its log.",
    isLasting: false,
    isUnexpected: true,
  };
}

/** Returns the delay in milliseconds before the next try. @param failures consecutive failures, including this one */
export function retryDelayMs(failure: Failure, failures: number): number {
  const { isLasting, retryAfterMs = 0, retryWithinMs = MAX_RETRY_MS } = failure;
  const initialMs = isLasting ? FIRST_LASTING_RETRY_MS : FIRST_RETRY_MS;
  const backoffMs = backoff({ initialMs, maxMs: retryWithinMs })(failures);
  return Math.max(backoffMs, Math.min(retryAfterMs, MAX_RETRY_AFTER_MS));
}
