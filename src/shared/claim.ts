import { setInterval } from "node:timers/promises";

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
  const over = new AbortController();
  const renewing = keep(claim, lost, over.signal);
  try {
    return await work(lost.signal);
  } finally {
    over.abort();
    await renewing;
  }
}

async function keep({ renew, now }: Claim, lost: AbortController, over: AbortSignal): Promise<void> {
  try {
    for await (const _ of setInterval(RENEW_EVERY_MS, undefined, { signal: over })) {
      // MongoDB may be away for a while: the claim is lost only when MongoDB says so.
      const kept = await renew(new Date(now().getTime() + LEASE_MS)).catch(() => true);
      if (!kept) return lost.abort();
    }
  } catch {
    // the work is over
  }
}
