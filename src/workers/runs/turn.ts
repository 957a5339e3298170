import { AppError, toAppError } from "../../shared/errors.ts";

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
  // AbortSignal.any would do, but Node keeps its signal for as long as somebody listens to it, and OpenAI's client leaves a listener
  const turn = new AbortController();
  const follow = () => turn.abort((lost.aborted ? lost : stopping).reason);
  const sources = [lost, stopping];
  for (const source of sources) source.addEventListener("abort", follow);
  if (sources.some(({ aborted }) => aborted)) follow();
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    turn.abort(new DOMException("The turn took too long.", "TimeoutError"));
  }, timeoutMs);
  try {
    return { kind: "replied", reply: await work(turn.signal) };
  } catch (thrown) {
    if (lost.aborted) return { kind: "lost" };
    if (late) return { kind: "failed", error: timedOut(timeoutMs, thrown) };
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
