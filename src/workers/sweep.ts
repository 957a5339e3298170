import { randomUUID } from "node:crypto";
import type { Stores } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import type { Queues } from "../shared/enqueue.ts";
import type { Logger } from "../shared/logger.ts";
import { agentHook, delivery } from "../shared/queues.ts";
import type { Settle } from "./settle.ts";

const EVERY_MS = 5_000;
/** What is younger is most likely on its way. */
const YOUNG_MS = 5_000;
const BATCH = 500;

export interface SweepDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly log: Logger;
  readonly settle: Settle;
}

/**
 * Puts back on its queue what the records say is waiting and Redis does not know: Redis may be emptied at any moment, and
 * a process may die between two writes. Driven by a timer of each worker process; a lease lets one at a time work.
 */
export function startSweep(deps: SweepDeps, everyMs = EVERY_MS): { close(): Promise<void> } {
  const holder = randomUUID();
  let sweeping = Promise.resolve();
  let idle = true;
  const timer = setInterval(() => {
    if (!idle) return;
    idle = false;
    sweeping = sweep(deps, holder, everyMs)
      .catch((error: unknown) => deps.log.debug({ err: error }, "the sweep could not finish; trying again"))
      .finally(() => {
        idle = true;
      });
  }, everyMs);
  return {
    async close() {
      clearInterval(timer);
      await sweeping;
    },
  };
}

async function sweep(deps: SweepDeps, holder: string, everyMs: number): Promise<void> {
  if (!(await deps.stores.leases.take("sweep", holder, everyMs * 3))) return;
  await settleEnded(deps);
  await requeueRuns(deps);
  await requeueDeliveries(deps);
  const { events, sessions } = deps.stores;
  if ((await events.wantsTurn(before(deps))) && !(await sessions.isMainPaused(deps.clock.now()))) {
    await deps.queues.triggerHeartbeat();
  }
}

const before = ({ clock }: SweepDeps) => new Date(clock.now().getTime() - YOUNG_MS);

async function settleEnded(deps: SweepDeps): Promise<void> {
  for (const runId of await deps.stores.runs.findUnsettled(before(deps), BATCH)) await deps.settle(runId);
}

async function requeueRuns(deps: SweepDeps): Promise<void> {
  const { stores, queues, clock } = deps;
  for (const { id: runId, status, attempts } of await stores.runs.findDue(clock.now(), before(deps), BATCH)) {
    // The entry that a dead worker has taken is still there, so another one is made beside it.
    const jobId = status === "running" ? `${runId}-lost-${attempts}` : runId;
    if (!(await queues.has(agentHook, jobId))) await queues.add(agentHook, { runId }, { jobId });
  }
}

async function requeueDeliveries({ stores, queues }: SweepDeps): Promise<void> {
  for (const { _id } of await stores.deliveries.findPending(BATCH)) {
    if (!(await queues.has(delivery, _id))) await queues.add(delivery, { deliveryId: _id }, { jobId: _id });
  }
}
