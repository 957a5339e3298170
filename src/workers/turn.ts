import { setInterval } from "node:timers/promises";
import { AppError, toAppError } from "../shared/errors.ts";

/** How long a claim is believed without another word, and how often that word is said. */
export const LEASE_MS = 15_000;
const RENEW_EVERY_MS = 2_000;

/** How an agent turn ended. `lost`: it is no longer ours, `stopped`: this process is to stop. */
export type TurnEnd =
  | { readonly kind: "replied"; readonly reply: string }
  | { readonly kind: "failed"; readonly error: AppError }
  | { readonly kind: "lost" }
  | { readonly kind: "stopped" };

export interface TurnBounds {
  readonly timeoutMs: number;
  /** Fires when this process is to stop. */
  readonly stopping: AbortSignal;
  /** Says that the turn is still under way; false when it is no longer ours. */
  renew(until: Date): Promise<boolean>;
  now(): Date;
}

/**
 * Runs one agent turn under its claim: the work is aborted for real when its time is up, when the claim is lost, and
 * when the process stops.
 */
export async function boundTurn(work: (signal: AbortSignal) => Promise<string>, bounds: TurnBounds): Promise<TurnEnd> {
  const lost = new AbortController();
  const over = new AbortController();
  const timeout = AbortSignal.timeout(Math.ceil(bounds.timeoutMs));
  const renewing = keepClaim(bounds, lost, over.signal);
  try {
    return { kind: "replied", reply: await work(AbortSignal.any([timeout, lost.signal, bounds.stopping])) };
  } catch (thrown) {
    if (lost.signal.aborted) return { kind: "lost" };
    if (timeout.aborted) return { kind: "failed", error: timedOut(bounds.timeoutMs, thrown) };
    if (bounds.stopping.aborted) return { kind: "stopped" };
    return { kind: "failed", error: toAppError(thrown) };
  } finally {
    over.abort();
    await renewing;
  }
}

function timedOut(timeoutMs: number, cause: unknown): AppError {
  return new AppError("timeout", { detail: `The run took longer than ${timeoutMs / 1_000} seconds.`, cause });
}

async function keepClaim({ renew, now }: TurnBounds, lost: AbortController, over: AbortSignal): Promise<void> {
  try {
    for await (const _ of setInterval(RENEW_EVERY_MS, undefined, { signal: over })) {
      // MongoDB may be away for a while: the claim is lost only when MongoDB says so.
      const kept = await renew(new Date(now().getTime() + LEASE_MS)).catch(() => true);
      if (!kept) return lost.abort();
    }
  } catch {
    // the turn is over
  }
}
