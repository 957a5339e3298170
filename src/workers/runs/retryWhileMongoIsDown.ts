import { setTimeout as pause } from "node:timers/promises";
import { AppError } from "../../shared/errors.ts";
import type { RunContext } from "../runWorkers.ts";

/**
 * Calls `act` and repeats it while MongoDB cannot be reached, so that an agent's reply survives an outage. The act may take
 * effect twice, so it must be idempotent. Gives up when the signal aborts.
 * @throws AppError unavailable once the signal has aborted, and every other error of the act
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
