import type { NotedDelivery } from "../models/commands/addDelivery.ts";
import { type SettleSettings, settleRun } from "../models/commands/settleRun.ts";
import type { Stores } from "../models/stores.ts";
import type { Queues } from "../shared/enqueue.ts";
import { agentHook } from "../shared/queues.ts";

/** Does what follows from a run's end, on the records and then on the queues; nothing when it has not ended. */
export type Settle = (runId: string) => Promise<void>;

export function settler(
  stores: Stores,
  queues: Queues,
  settings: SettleSettings,
  deliver: (noted: NotedDelivery) => Promise<void>,
): Settle {
  return async (runId) => {
    const run = await stores.runs.findEnded(runId);
    if (!run) return;
    const { nextRunId, delivery, wake } = await settleRun(stores, run, settings);
    // Named after this end: the next run's own entry may be on its way off the queue in this very moment.
    if (nextRunId)
      await queues.add(agentHook, { runId: nextRunId }, { jobId: `${nextRunId}-after-${runId}-${run.round}` });
    if (delivery) await deliver(delivery);
    if (wake) await queues.triggerHeartbeat();
  };
}
