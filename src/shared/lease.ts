import type { Timings } from "./timings.ts";

/** An exclusive, expiring right to work on a record. */
export interface Lease {
  /** Extends the lease; false when it is lost. */
  renew(until: Date): Promise<boolean>;
  now(): Date;
}

/** Runs work and renews its lease meanwhile. The signal aborts when the lease is lost. */
export async function withLease<T>(
  lease: Lease,
  { durationMs, renewEveryMs }: Pick<Timings["lease"], "durationMs" | "renewEveryMs">,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (lost.signal.aborted) return;
    renewing ??= renew(lease, durationMs, lost).finally(() => {
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

async function renew(lease: Lease, durationMs: number, lost: AbortController): Promise<void> {
  // A failed renewal does not lose the lease: MongoDB may be down for a while, and only its answer decides.
  const isRenewed = await lease.renew(new Date(lease.now().getTime() + durationMs)).catch(() => true);
  if (!isRenewed) lost.abort();
}
