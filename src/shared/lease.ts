import type { Timings } from "./timings.ts";

/** An exclusive, expiring right to work on a record. */
export interface Lease {
  /** Extends the lease; false when it is lost. */
  renew(until: Date): Promise<boolean>;
  now(): Date;
}

/**
 * Runs work and renews its lease meanwhile. The signal aborts when the lease is lost: by MongoDB's answer, or if `isStrict`, also
 * before it expires by the clock of this process.
 */
export async function withLease<T>(
  lease: Lease,
  { durationMs, renewEveryMs, isStrict = false }: Pick<Timings["lease"], "durationMs" | "renewEveryMs" | "isStrict">,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  let renewing: Promise<void> | undefined;
  let heldUntil = performance.now() + durationMs;
  const timer = setInterval(() => {
    const now = performance.now();
    if (isStrict && now + renewEveryMs > heldUntil) lost.abort(); // before the next look it would have expired
    if (lost.signal.aborted) return;
    renewing ??= renew(lease, durationMs, lost)
      .then((isRenewed) => {
        if (isRenewed) heldUntil = now + durationMs;
      })
      .finally(() => {
        renewing = undefined;
      });
  }, renewEveryMs);
  try {
    return await work(lost.signal);
  } finally {
    clearInterval(timer);
    await renewing;
  }
}

/** Returns whether the lease was renewed. A renewal that fails does not lose it: MongoDB may be down for a while. */
async function renew(lease: Lease, durationMs: number, lost: AbortController): Promise<boolean> {
  const isRenewed = await lease.renew(new Date(lease.now().getTime() + durationMs)).catch(() => null);
  if (isRenewed === false) lost.abort();
  return isRenewed === true;
}
