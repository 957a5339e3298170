interface BackoffOptions {
  readonly initialMs: number;
  readonly maxMs: number;
  /** The share of the delay that is added at random, so that processes which failed together do not return together. */
  readonly jitter?: number;
}

/** No delay doubles more often: beyond it numbers lose precision. */
const MAX_DOUBLINGS = 30;

/**
 * Returns the delay in milliseconds before the next attempt, given the number of failures so far (1 after the first one). It
 * doubles with each failure up to `maxMs`.
 */
export function backoff({ initialMs, maxMs, jitter = 0 }: BackoffOptions): (failures: number) => number {
  return (failures) => {
    const delayMs = Math.min(initialMs * 2 ** Math.min(Math.max(failures - 1, 0), MAX_DOUBLINGS), maxMs);
    return delayMs * (1 + jitter * Math.random());
  };
}

/** Maximum pause that is obeyed, whatever a service asks for: one day. A timer of more than 24.8 days would fire at once. */
export const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/** Returns the milliseconds that a `Retry-After` header asks for, in seconds or as a date; null without a valid one. */
export function retryAfterMs(headers: Headers, now = Date.now()): number | null {
  const value = headers.get("Retry-After")?.trim();
  if (!value) return null;
  if (/^\d+(\.\d+)?$/.test(value)) return Number(value) * 1_000;
  const at = /^[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
