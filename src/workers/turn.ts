import { AppError, toAppError } from "../shared/errors.ts";
import { type Claim, underClaim } from "./claim.ts";

/** How an agent turn ended. `lost`: it is no longer ours, `stopped`: this process is to stop. */
export type TurnEnd =
  | { readonly kind: "replied"; readonly reply: string }
  | { readonly kind: "failed"; readonly error: AppError }
  | { readonly kind: "lost" }
  | { readonly kind: "stopped" };

export interface TurnBounds extends Claim {
  readonly timeoutMs: number;
  /** Fires when this process is to stop. */
  readonly stopping: AbortSignal;
}

/**
 * Runs one agent turn under its claim: the work is aborted for real when its time is up, when the claim is lost, and
 * when the process stops.
 */
export function boundTurn(work: (signal: AbortSignal) => Promise<string>, bounds: TurnBounds): Promise<TurnEnd> {
  const { timeoutMs, stopping } = bounds;
  const timeout = AbortSignal.timeout(Math.ceil(timeoutMs));
  return underClaim(bounds, async (lost) => {
    try {
      return { kind: "replied", reply: await work(AbortSignal.any([timeout, lost, stopping])) };
    } catch (thrown) {
      if (lost.aborted) return { kind: "lost" };
      if (timeout.aborted) return { kind: "failed", error: timedOut(timeoutMs, thrown) };
      if (stopping.aborted) return { kind: "stopped" };
      return { kind: "failed", error: toAppError(thrown) };
    }
  });
}

function timedOut(timeoutMs: number, cause: unknown): AppError {
  return new AppError("timeout", { detail: `The run took longer than ${timeoutMs / 1_000} seconds.`, cause });
}
