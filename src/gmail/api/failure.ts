import { AppError } from "../../shared/errors.ts";
import { StartError } from "../../shared/lifecycle.ts";
import { GoogleError } from "./googleError.ts";

/** Why an act of the listener failed. */
export interface Failure {
  readonly reason: string;
  /** It does not pass by itself. */
  readonly isLasting: boolean;
  /** When it may be tried again at the earliest, where Google says so. */
  readonly retryAfterMs?: number | undefined;
  /** When it is tried again at the latest; else the pauses grow to five minutes. */
  readonly retryWithinMs?: number;
  /** Nobody has foreseen it: the log has to say more. */
  readonly isUnexpected?: boolean;
}

const FIRST_RETRY_MS = 1_000;
/** What does not pass by itself is tried slowly from the first. */
const FIRST_LASTING_RETRY_MS = 60_000;
const MAX_RETRY_MS = 300_000;
/** A server of our own is there for us alone. */
const MAX_OWN_RETRY_MS = 15_000;
const MAX_RATE_LIMIT_MS = 24 * 3_600_000;

export function toFailure(thrown: unknown): Failure {
  if (thrown instanceof GoogleError) {
    const { reason, kind, retryAfterMs } = thrown;
    return { reason, isLasting: kind === "authorization" || kind === "refused", retryAfterMs };
  }
  if (thrown instanceof StartError) return { reason: thrown.message, isLasting: true };
  if (thrown instanceof AppError) return { reason: thrown.message, isLasting: false, retryWithinMs: MAX_OWN_RETRY_MS };
  return {
    reason: "Something went wrong inside the listener; its log says what.",
    isLasting: false,
    isUnexpected: true,
  };
}

/** How long to wait before the next try. @param failures in a row, this one included */
export function retryDelayMs(failure: Failure, failures: number): number {
  const { isLasting, retryAfterMs = 0, retryWithinMs = MAX_RETRY_MS } = failure;
  const first = isLasting ? FIRST_LASTING_RETRY_MS : FIRST_RETRY_MS;
  const backoffMs = Math.min(first * 2 ** Math.min(failures - 1, 20), retryWithinMs);
  return Math.max(backoffMs, Math.min(retryAfterMs, MAX_RATE_LIMIT_MS));
}
