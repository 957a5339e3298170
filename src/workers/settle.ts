import type { NotedDelivery } from "../models/commands/addDelivery.ts";
import { type Settled, type SettleSettings, settleRuns } from "../models/commands/settleRun.ts";
import { hasSessionAlone, type RunDoc } from "../models/run.ts";
import type { Stores } from "../models/stores.ts";
import type { Queues } from "../shared/enqueue.ts";
import { toAppError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { agentHook } from "../shared/queues.ts";
import { ALIKE, Together } from "../shared/together.ts";

/**
 * Does what follows from a run's end, on the records and then on the queues; nothing when it has not ended.
 * @param ended the run, where it is known how it has ended
 */
export type Settle = (runId: string, ended?: RunDoc) => Promise<void>;

/** Each time is five commands, and of a session that was made for one run hardly anybody waits for it. */
const SETTLED_EVERY_MS = 50;

export function settler(
  stores: Stores,
  queues: Queues,
  settings: SettleSettings,
  deliver: (noted: NotedDelivery) => Promise<void>,
): Settle {
  const act = (ended: readonly RunDoc[]) => settleRuns(stores, ended, settings);
  const shared = new Together<RunDoc, Settled>(act, ALIKE);
  const alone = new Together<RunDoc, Settled>(act, { ...ALIKE, everyMs: SETTLED_EVERY_MS });
  return async (runId, ended) => {
    const run = ended ?? (await stores.runs.findEnded(runId));
    if (!run) return;
    const { nextRunId, delivery, wake } = await (hasSessionAlone(run) ? alone : shared).add(run);
    // Named after this end: the next run's own entry may be on its way off the queue in this very moment.
    if (nextRunId)
      await queues.add(agentHook, { runId: nextRunId }, { jobId: `${nextRunId}-after-${runId}-${run.round}` });
    if (delivery) await deliver(delivery);
    if (wake) await queues.triggerHeartbeat();
  };
}

/** Says why a run is not settled; the sweep tries it again. */
export function logUnsettled(log: Logger, run: string, error: unknown): void {
  const { code } = toAppError(error);
  log.error({ run, code, err: error }, "what follows from a run's end cannot be written");
}
