import type { AgentReply } from "../../agents/runners/runner.ts";
import { AppError, toAppError } from "../../shared/errors.ts";

/** How an agent turn ended. `lost`: this worker lost the lease. `stopped`: this process stops. */
export type TurnOutcome =
  | { readonly kind: "replied"; readonly reply: AgentReply }
  | { readonly kind: "failed"; readonly error: AppError }
  | { readonly kind: "lost" }
  | { readonly kind: "stopped" };

export interface TurnBounds {
  readonly timeoutMs: number;
  /** Aborts when the lease is lost. */
  readonly lost: AbortSignal;
  /** Aborts when this process stops. */
  readonly stopping: AbortSignal;
}

/**
 * Runs one agent turn and aborts it when its time is up, when the lease is lost, or when the process stops. Never throws: a
 * failure is an outcome.
 * @param work runs the turn; with `stop` it ends itself as failed
 */
export async function runTurn(
  work: (signal: AbortSignal, stop: (error: AppError) => void) => Promise<AgentReply>,
  { timeoutMs, lost, stopping }: TurnBounds,
): Promise<TurnOutcome> {
  // Node never frees a signal of AbortSignal.any that still has a listener, and OpenAI's client leaves one.
  const turn = new AbortController();
  const follow = () => turn.abort((lost.aborted ? lost : stopping).reason);
  const sources = [lost, stopping];
  for (const source of sources) source.addEventListener("abort", follow);
  if (sources.some(({ aborted }) => aborted)) follow();
  let refusal: AppError | undefined;
  const stop = (error: AppError) => {
    refusal ??= error;
    turn.abort(error);
  };
  let isLate = false;
  const timer = setTimeout(() => {
    isLate = true;
    turn.abort(new DOMException("The turn took too long.", "TimeoutError"));
  }, timeoutMs);
  try {
    return { kind: "replied", reply: await work(turn.signal, stop) };
  } catch (thrown) {
    if (lost.aborted) return { kind: "lost" };
    if (isLate) return { kind: "failed", error: timedOut(timeoutMs, thrown) };
    if (refusal) return { kind: "failed", error: refusal };
    if (stopping.aborted) return { kind: "stopped" };
    return { kind: "failed", error: toAppError(thrown) };
  } finally {
    clearTimeout(timer);
    for (const source of sources) source.removeEventListener("abort", follow);
  }
}

function timedOut(timeoutMs: number, cause: unknown): AppError {
  return new AppError("timeout", { detail: `The run took longer than ${timeoutMs / 1_000} seconds.`, cause });
}
