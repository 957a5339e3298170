import type { AddedDelivery } from "../../models/deliveries/addDelivery.ts";
import { type FinalizeSettings, finalizeRun } from "../../models/runs/finalizeRun.ts";
import type { Stores } from "../../models/stores.ts";
import { agentHook } from "../../shared/queue/definitions.ts";
import type { Queues } from "../../shared/queue/producer.ts";

/** Finalizes a run, then enqueues what follows from its end. Ignores a run that has not ended or is already finalized. */
export type Finalize = (runId: string) => Promise<void>;

export function finalizer(
  stores: Stores,
  queues: Pick<Queues, "add" | "triggerHeartbeat">,
  settings: FinalizeSettings,
  deliver: (noted: AddedDelivery) => Promise<void>,
): Finalize {
  return async (runId) => {
    const run = await stores.runs.findUnfinalized(runId);
    if (!run) return;
    const { nextRunId, delivery, wake } = await finalizeRun(stores, run, settings);
    // The job id names this end, because the next run's own job may be leaving the queue at this moment.
    if (nextRunId)
      await queues.add(agentHook, { runId: nextRunId }, { jobId: `${nextRunId}-after-${runId}-${run.round}` });
    if (delivery) await deliver(delivery);
    if (wake) await queues.triggerHeartbeat();
  };
}
