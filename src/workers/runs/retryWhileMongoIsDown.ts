import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "../../shared/errors.ts";
import type { RunContext } from "../run.ts";

/**
 * Does an act on the records, and does it again while MongoDB cannot be reached: what an agent has answered is not lost
 * because MongoDB was away in that moment. The act may be done twice. Gives up when the signal fires.
 * @throws AppError unavailable once the signal has fired; anything else as the act throws it
 */
export async function retryWhileMongoIsDown<T>(
  act: () => Promise<T>,
  { signal, timings }: Pick<RunContext, "signal" | "timings">,
): Promise<T> {
  for (;;) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof AppError && error.code === "unavailable") || signal.aborted) throw error;
      await pause(timings.retry.writeMs, undefined, { signal }).catch(() => {});
    }
  }
}
