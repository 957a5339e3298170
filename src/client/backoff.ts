import type { ClientContext } from "./clientContext.ts";
import type { Connection } from "./connection.ts";
import { onAbort, type Signals, startDeadline, TIMED_OUT } from "./deadline.ts";
import type { SignalboxError } from "./error.ts";

let initialBackoffMs = 200;
const MAX_BACKOFF_MS = 10_000;

/** Sets the longest sleep after the first try in vain, for tests of the client. @returns what it was */
export function setInitialBackoff(ms: number): number {
  const before = initialBackoffMs;
  initialBackoffMs = ms;
  return before;
}

/** Whether it passes: the service is away, overloaded or not ready. */
export const isTransient = (error: unknown): boolean =>
  (error as Partial<SignalboxError> | undefined)?.isTransient === true;

/** How long to wait after so many tries in vain: full jitter, on top of what the service asks for. */
export function backoffMs(tries: number, error: unknown, initialMs = initialBackoffMs): number {
  const asked = (error as Partial<SignalboxError> | undefined)?.retryAfterMs ?? 0;
  return asked + Math.random() * Math.min(MAX_BACKOFF_MS, initialMs * 2 ** tries);
}

/** @throws the signal's reason */
export async function sleep(ms: number, signals: Signals): Promise<void> {
  const { signal, end } = startDeadline(ms, signals);
  if (!signal.aborted) await new Promise<void>((resolve) => onAbort(signal, resolve));
  end();
  if (signal.reason !== TIMED_OUT) throw signal.reason;
}

/**
 * Asks again, for so long, what fails for a reason that passes; it must be harmless to ask it twice.
 * @throws the last error, or the request's signal's reason
 */
export async function withRetry<T>(
  { connection, closed, onError }: ClientContext,
  forMs: number,
  ...[method, path, request]: Parameters<Connection["call"]>
): Promise<T> {
  const begunAt = performance.now();
  for (let tries = 0; ; tries++) {
    try {
      return await connection.call(method, path, request);
    } catch (error) {
      const waitMs = backoffMs(tries, error);
      if (!isTransient(error) || performance.now() + waitMs - begunAt > forMs) throw error;
      onError(error);
      await sleep(waitMs, [request?.signal, closed]);
    }
  }
}
