import { unconfigured } from "../models/deliveries/addDelivery.ts";
import { repairGates } from "../models/gates/repairGates.ts";
import { listDueRuns, listUnfinalized, listUnmapped } from "../models/runs/dueRuns.ts";
import type { Stores } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import { toAppError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { agentHook, mappedHook } from "../shared/queue/definitions.ts";
import type { Queues } from "../shared/queue/producer.ts";
import type { Timings } from "../shared/timings.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { logFailure, startPeriodic } from "./periodic.ts";
import { resumeDecided } from "./runs/budgets.ts";

export interface SweepDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly log: Logger;
  readonly finalize: (runId: string) => Promise<void>;
  /** The configured channels. */
  readonly channels: ReadonlySet<string>;
  readonly metrics: WorkerMetrics;
  readonly timings: Timings["sweep"];
}

/** A sweep reads all records that wait, also those that are on their queue: it takes at most half of the time. */
const PAUSE_FACTOR = 1;

/**
 * Enqueues again whatever waits according to the records but is missing in Redis, because Redis may be emptied at any time
 * and a process may die between two writes.
 */
export function startSweep(deps: SweepDeps): { close(): Promise<void> } {
  return startPeriodic("sweep", { everyMs: deps.timings.everyMs, pauseFactor: PAUSE_FACTOR }, PARTS, deps);
}

const PARTS = [
  finalizeEnded,
  requeueUnmapped,
  resumeDecided,
  requeueRuns,
  failUnserved,
  requeueDeliveries,
  wakeMain,
  repair,
];

const before = ({ clock, timings }: SweepDeps) => new Date(clock.now().getTime() - timings.minAgeMs);

/** Maximum runs finalized concurrently: each takes about ten operations and shares the connection pool with other work. */
const FINALIZE_CONCURRENCY = 20;

async function finalizeEnded(deps: SweepDeps): Promise<void> {
  const { stores, finalize, log } = deps;
  await inBatches(listUnfinalized(stores.runs.collection, before(deps)), FINALIZE_CONCURRENCY, ({ _id: run }) =>
    finalize(run).catch((error: unknown) => {
      const { code } = toAppError(error);
      if (code === "unavailable") throw error;
      log.error({ run, code, err: error }, "a run could not be finalized"); // the other runs can be
    }),
  );
}

/** Maximum records that are looked up in Redis concurrently. */
const ENQUEUE_CONCURRENCY = 500;

async function requeueUnmapped(deps: SweepDeps): Promise<void> {
  const { stores, queues } = deps;
  const waiting = new Map<string, number>();
  await inBatches(
    listUnmapped(stores.runs.collection, before(deps)),
    ENQUEUE_CONCURRENCY,
    async ({ _id: runId, round, mapped }) => {
      // The mappings take turns, as at acceptance: a run's priority is its position among the waiting runs of its mapping.
      const priority = (waiting.get(mapped?.mapping ?? "") ?? 0) + 1;
      waiting.set(mapped?.mapping ?? "", priority);
      // The same id as the API uses, so that no transform runs twice concurrently.
      const jobId = round === 0 ? runId : `${runId}-round-${round}`;
      if (!(await queues.has(mappedHook, jobId))) await queues.add(mappedHook, { runId }, { jobId, priority });
    },
  );
}

async function requeueRuns(deps: SweepDeps): Promise<void> {
  const { stores, queues, clock } = deps;
  const due = listDueRuns(stores.runs.collection, clock.now(), before(deps));
  await inBatches(due, ENQUEUE_CONCURRENCY, async ({ id: runId, status, attempts }) => {
    // The queue entry of a dead worker still exists, so the run gets another id.
    const jobId = status === "running" ? `${runId}-lost-${attempts}` : runId;
    if (!(await queues.has(agentHook, jobId))) await queues.add(agentHook, { runId }, { jobId });
  });
}

/** Calls `act` for each item, `size` items at a time. */
async function inBatches<T>(items: AsyncIterable<T>, size: number, act: (item: T) => Promise<void>): Promise<void> {
  let batch: T[] = [];
  for await (const item of items) {
    batch.push(item);
    if (batch.length < size) continue;
    await Promise.all(batch.map(act));
    batch = [];
  }
  await Promise.all(batch.map(act));
}

async function failUnserved({ stores, clock, channels, metrics, log, timings }: SweepDeps): Promise<void> {
  const before = new Date(clock.now().getTime() - timings.unservedMs);
  const failed = await stores.deliveries.failUnserved(channels, before, unconfigured);
  for (const { channel, count } of failed) {
    metrics.deliveries.inc({ channel, outcome: "failed" }, count);
    log.warn({ channel, count }, "deliveries failed because their channel is no longer configured");
  }
}

async function requeueDeliveries(deps: SweepDeps): Promise<void> {
  const { stores, queues, clock } = deps;
  const due = stores.deliveries.listDue(clock.now(), before(deps));
  const unreachable = new Set<string>();
  await inBatches(due, ENQUEUE_CONCURRENCY, async ({ _id: deliveryId, channel, lease, notBefore }) => {
    if (unreachable.has(channel)) return;
    // As for runs, the queue entry of a dead worker still exists.
    const occasion = lease ? `lost-${lease.until.getTime()}` : notBefore ? `at-${notBefore.getTime()}` : undefined;
    const entry = { deliveryId, channel };
    try {
      if (!(await queues.hasDelivery(entry, { occasion }))) await queues.deliver(entry, { occasion });
    } catch (error) {
      if (!unreachable.has(channel)) logFailure(deps, "sweep", error);
      unreachable.add(channel);
    }
  });
}

async function repair(deps: SweepDeps): Promise<void> {
  const { stores, log } = deps;
  const corrections = await repairGates(stores, before(deps));
  if (corrections > 0) log.debug({ corrections }, "gates and their jobs agree again");
}

async function wakeMain(deps: SweepDeps): Promise<void> {
  const { mainEvents, sessions } = deps.stores;
  if ((await mainEvents.wantsTurn(before(deps))) && !(await sessions.isMainBusy(deps.clock.now()))) {
    await deps.queues.triggerHeartbeat();
  }
}
