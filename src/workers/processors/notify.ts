import { type DispatchDeps, dispatchAll } from "../notify/dispatch.ts";
import type { Processor } from "../runWorkers.ts";

/** Returns the processor that turns the notes of all records into deliveries. The scan triggers it again if it fails. */
export function notifyProcessor(deps: DispatchDeps): Processor {
  return async (_, { signal }) => {
    const events = await dispatchAll(deps, signal);
    return { kind: "done", result: { events }, isIdle: events === 0 };
  };
}
