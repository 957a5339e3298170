import type { ClientContext } from "./clientContext.ts";
import type { Connection } from "./connection.ts";
import { onAbort, type Signals, startDeadline, TIMED_OUT } from "./deadline.ts";
import type { SignalboxError } from "./error.ts";

let initialBackoffMs = 200;
const MAX_BACKOFF_MS = 10_000;

/** Sets the maximum delay after the first failed try, for tests of the client, and returns the previous value. */
export function setInitialBackoff(ms: number): number {
  const before = initialBackoffMs;
  initialBackoffMs = ms;
  return before;
}

/** Whether the error may pass without a change: the service is unreachable, overloaded or not ready. */
export const isTransient = (error: unknown): boolean => !!(error as Partial<SignalboxError> | undefined)?.isTransient;

/** Returns the delay before the next try: exponential with full jitter, added to the service's `Retry-After`. */
export function backoffMs(tries: number, error: unknown, initialMs = initialBackoffMs): number {
  const retryAfterMs = (error as Partial<SignalboxError> | undefined)?.retryAfterMs ?? 0;
  return retryAfterMs + Math.random() * Math.min(MAX_BACKOFF_MS, initialMs * 2 ** tries);
}

/** @throws the reason of the first aborted signal */
export async function sleep(ms: number, signals: Signals): Promise<void> {
  const { signal, end } = startDeadline(ms, signals);
  if (!signal.aborted) await new Promise<void>((resolve) => onAbort(signal, resolve));
  end();
  if (signal.reason !== TIMED_OUT) throw signal.reason;
}

/**
 * Sends a request and repeats it after transient errors, for at most `retryForMs`. The request must be idempotent.
 * @throws the last error, or the reason of the request's signal
 */
export async function withRetry<T>(
  { connection, closed, onError }: ClientContext,
  retryForMs: number,
  ...[method, path, request]: Parameters<Connection["call"]>
): Promise<T> {
  let startedAt = performance.now();
  for (let tries = 0; ; tries++) {
    try {
      return await connection.call(method, path, request);
    } catch (error) {
      const waitMs = backoffMs(tries, error);
      if (!tries && request?.waitMs) startedAt = performance.now(); // the service may have held this request
      if (!isTransient(error) || performance.now() + waitMs - startedAt > retryForMs) throw error;
      onError(error);
      await sleep(waitMs, [request?.signal, closed]);
    }
  }
}
