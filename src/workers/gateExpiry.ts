import { expireGates } from "../models/gates/repairGates.ts";
import type { Stores } from "../models/stores.ts";
import type { Logger } from "../shared/logger.ts";
import { logFailure } from "./periodic.ts";

/**
 * Lets gates expire when their time has passed. Every worker process has this timer, apart from the sweep, which may take
 * longer than a gate may be late. Processes that do it at the same time agree, because the end of a gate is one update.
 */
export function startGateExpiry(
  { stores, log }: { readonly stores: Stores; readonly log: Logger },
  everyMs: number,
): { close(): Promise<void> } {
  let expiring: Promise<unknown> | undefined;
  const timer = setInterval(() => {
    expiring ??= expireGates(stores)
      .catch((error: unknown) => logFailure({ log }, "expiry of gates", error))
      .finally(() => {
        expiring = undefined;
      });
  }, everyMs);
  return {
    async close() {
      clearInterval(timer);
      await expiring;
    },
  };
}
