import type { Timings } from "./timings.ts";

export interface Lease {
  /** Says that the work is still under way; false when it is no longer ours. */
  renew(until: Date): Promise<boolean>;
  now(): Date;
}

/** Does work and renews its lease meanwhile. The signal fires when the lease is lost. */
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
  // MongoDB may be away for a while: the lease is lost only when MongoDB says so.
  const kept = await lease.renew(new Date(lease.now().getTime() + durationMs)).catch(() => true);
  if (!kept) lost.abort();
}
