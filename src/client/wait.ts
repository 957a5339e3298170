import type { CallOptions } from "./api.ts";
import { sleep, withRetry } from "./backoff.ts";
import type { ClientContext } from "./clientContext.ts";

/** Below 30 s, after which some hosts cut a request that has no response yet. */
const WAIT_SECONDS = 25;
/** Minimum interval of requests: a service may answer at once, because too many requests wait already. */
const MIN_INTERVAL_MS = 1_000;

/** Whether a job or run has ended. */
const hasEnded = (record: unknown): boolean =>
  !/^(queued|waiting|running)$/.test((record as { status: string }).status);

/**
 * Reads a record until it has ended, or until `isOver`. Each request waits at the service, and the next one follows it; transient errors are
 * retried as those of reports are.
 * @throws SignalboxError for other errors, such as job_not_found, or the signal's reason
 */
export async function waitForEnd<T>(
  context: ClientContext,
  path: string,
  { signal }: CallOptions = {},
  isOver: (record: T) => boolean = hasEnded,
): Promise<T> {
  const headers = { Prefer: `wait=${WAIT_SECONDS}` };
  const request = { headers, signal, waitMs: WAIT_SECONDS * 1_000 };
  for (;;) {
    const askedAt = performance.now();
    const record = await withRetry<T>(context, context.retryForMs, "GET", path, request);
    if (isOver(record)) return record;
    await sleep(Math.max(0, askedAt + MIN_INTERVAL_MS - performance.now()), [signal, context.closed]);
  }
}
