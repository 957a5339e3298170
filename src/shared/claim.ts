import type { Timings } from "./timings.ts";

export interface Claim {
  /** Says that the work is still under way; false when it is no longer ours. */
  renew(until: Date): Promise<boolean>;
  now(): Date;
}

/** Does work and renews its claim meanwhile. The signal fires when the claim is lost. */
export async function underClaim<T>(
  claim: Claim,
  { durationMs, renewEveryMs }: Pick<Timings["lease"], "durationMs" | "renewEveryMs">,
  work: (lost: AbortSignal) => Promise<T>,
): Promise<T> {
  const lost = new AbortController();
  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (lost.signal.aborted) return;
    renewing ??= renew(claim, durationMs, lost).finally(() => {
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

async function renew(claim: Claim, durationMs: number, lost: AbortController): Promise<void> {
  // MongoDB may be away for a while: the claim is lost only when MongoDB says so.
  const kept = await claim.renew(new Date(claim.now().getTime() + durationMs)).catch(() => true);
  if (!kept) lost.abort();
}
