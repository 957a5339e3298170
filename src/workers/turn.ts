import { AppError, toAppError } from "../shared/errors.ts";

/** How an agent turn ended. `lost`: it is no longer ours, `stopped`: this process is to stop. */
export type TurnEnd =
  | { readonly kind: "replied"; readonly reply: string }
  | { readonly kind: "failed"; readonly error: AppError }
  | { readonly kind: "lost" }
  | { readonly kind: "stopped" };

export interface TurnBounds {
  readonly timeoutMs: number;
  /** Fires when the turn is no longer ours. */
  readonly lost: AbortSignal;
  /** Fires when this process is to stop. */
  readonly stopping: AbortSignal;
}

/**
 * Runs one agent turn: the work is aborted for real when its time is up, when the claim is lost, and
 * when the process stops.
 */
export async function boundTurn(
  work: (signal: AbortSignal) => Promise<string>,
  { timeoutMs, lost, stopping }: TurnBounds,
): Promise<TurnEnd> {
  const late = new AbortController();
  const timeout = late.signal;
  const timer = setTimeout(() => late.abort(new DOMException("The turn took too long.", "TimeoutError")), timeoutMs);
  try {
    return { kind: "replied", reply: await work(AbortSignal.any([timeout, lost, stopping])) };
  } catch (thrown) {
    if (lost.aborted) return { kind: "lost" };
    if (timeout.aborted) return { kind: "failed", error: timedOut(timeoutMs, thrown) };
    if (stopping.aborted) return { kind: "stopped" };
    return { kind: "failed", error: toAppError(thrown) };
  } finally {
    clearTimeout(timer); // one of AbortSignal.timeout would be kept for as long as the turn might have taken
  }
}

function timedOut(timeoutMs: number, cause: unknown): AppError {
  return new AppError("timeout", { detail: `The run took longer than ${timeoutMs / 1_000} seconds.`, cause });
}
