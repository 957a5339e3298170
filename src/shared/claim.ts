/** How long a claim is believed without another word, and how often that word is said. */
export const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 2_000;

export interface Claim {
  /** Says that the work is still under way; false when it is no longer ours. */
  renew(until: Date): Promise<boolean>;
  now(): Date;
}

/** Does work and keeps its claim meanwhile. The signal fires when the claim is lost. */
export async function underClaim<T>(claim: Claim, work: (lost: AbortSignal) => Promise<T>): Promise<T> {
  const lost = new AbortController();
  let renewing: Promise<void> | undefined;
  const timer = setInterval(() => {
    if (lost.signal.aborted) return;
    renewing ??= renew(claim, lost).finally(() => {
      renewing = undefined;
    });
  }, RENEW_EVERY_MS);
  try {
    return await work(lost.signal);
  } finally {
    clearInterval(timer);
    await renewing;
  }
}

async function renew(claim: Claim, lost: AbortController): Promise<void> {
  // MongoDB may be away for a while: the claim is lost only when MongoDB says so.
  const kept = await claim.renew(new Date(claim.now().getTime() + LEASE_MS)).catch(() => true);
  if (!kept) lost.abort();
}
