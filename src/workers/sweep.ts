import { randomUUID } from "node:crypto";
import { unconfigured } from "../models/deliveries/addDelivery.ts";
import type { Stores } from "../models/stores.ts";
import type { Clock } from "../shared/clock.ts";
import { toAppError } from "../shared/errors.ts";
import { withLease } from "../shared/lease.ts";
import type { Logger } from "../shared/logger.ts";
import { agentHook, mappedHook } from "../shared/queue/definitions.ts";
import type { Queues } from "../shared/queue/producer.ts";
import type { Timings } from "../shared/timings.ts";
import type { WorkerMetrics } from "./metrics.ts";
import type { Finalize } from "./runs/finalize.ts";

/** How many records are looked up in Redis side by side. */
const ENQUEUE_CONCURRENCY = 500;
/** How many runs are finalized side by side: each is about ten operations, and others use the connection pool meanwhile. */
const FINALIZE_CONCURRENCY = 20;
/** The lease of a sweep lasts for this many intervals. It is renewed at each. */
const LEASE_INTERVALS = 3;
/**
 * A sweep over very many runs takes its time; at least so many times as long passes before the next one. Not after one that
 * took long because a server was away: what that one was to find is waiting.
 */
const REST = 5;

export interface SweepDeps {
  readonly stores: Stores;
  readonly queues: Queues;
  readonly clock: Clock;
  readonly log: Logger;
  readonly finalize: Finalize;
  /** The channels that are configured. */
  readonly channels: ReadonlySet<string>;
  readonly metrics: WorkerMetrics;
  readonly timings: Timings["sweep"];
}

/**
 * Puts back on its queue what the records say is waiting and Redis does not know: Redis may be emptied at any moment, and
 * a process may die between two writes. Driven by a timer of each worker process; a lease lets one at a time work.
 */
export function startSweep(deps: SweepDeps): { close(): Promise<void> } {
  const { everyMs } = deps.timings;
  const holder = randomUUID();
  let sweeping = Promise.resolve();
  let idle = true;
  let notBefore = 0;
  const timer = setInterval(() => {
    const began = performance.now();
    if (!idle || began < notBefore) return;
    idle = false;
    sweeping = sweep(deps, holder)
      .catch((error: unknown) => unfinished(deps, error))
      .then((isWhole) => {
        idle = true;
        notBefore = isWhole ? began + REST * (performance.now() - began) : 0;
      });
  }, everyMs);
  return {
    async close() {
      clearInterval(timer);
      await sweeping;
    },
  };
}

/** @returns whether all of it could be done */
async function sweep(deps: SweepDeps, holder: string): Promise<boolean> {
  const { stores, clock, timings } = deps;
  const durationMs = timings.everyMs * LEASE_INTERVALS;
  const renew = () => stores.leases.acquire("sweep", holder, durationMs);
  if (!(await renew())) return true;
  const lease = { durationMs, renewEveryMs: timings.everyMs };
  return withLease({ renew, now: () => clock.now() }, lease, async (lost) => {
    let isWhole = true;
    for (const part of [finalizeEnded, requeueUnmapped, requeueRuns, failUnserved, requeueDeliveries, wakeMain]) {
      if (lost.aborted) break; // another process sweeps by now
      await part(deps).catch((error: unknown) => {
        isWhole = unfinished(deps, error); // of a cluster, other queues may be there
      });
    }
    return isWhole;
  });
}

function unfinished({ log }: SweepDeps, error: unknown): false {
  log.debug({ err: error }, "the sweep could not finish; trying again");
  return false;
}

const before = ({ clock, timings }: SweepDeps) => new Date(clock.now().getTime() - timings.minAgeMs);

async function finalizeEnded(deps: SweepDeps): Promise<void> {
  const { stores, finalize, log } = deps;
  await inBatches(stores.runs.listUnfinalized(before(deps)), FINALIZE_CONCURRENCY, ({ _id: run }) =>
    finalize(run).catch((error: unknown) => {
      const { code } = toAppError(error);
      if (code === "unavailable") throw error;
      log.error({ run, code, err: error }, "a run cannot be finalized"); // others can be
    }),
  );
}

async function requeueUnmapped(deps: SweepDeps): Promise<void> {
  const { stores, queues } = deps;
  const waiting = new Map<string, number>();
  await inBatches(
    stores.runs.listUnmapped(before(deps)),
    ENQUEUE_CONCURRENCY,
    async ({ _id: runId, round, mapped }) => {
      // As at acceptance, the senders take turns: a run's priority is how many runs of its mapping wait up to it.
      const priority = (waiting.get(mapped?.mapping ?? "") ?? 0) + 1;
      waiting.set(mapped?.mapping ?? "", priority);
      // As the API names the job, so that no transform is carried out twice side by side.
      const jobId = round === 0 ? runId : `${runId}-round-${round}`;
      if (!(await queues.has(mappedHook, jobId))) await queues.add(mappedHook, { runId }, { jobId, priority });
    },
  );
}

async function requeueRuns(deps: SweepDeps): Promise<void> {
  const { stores, queues, clock } = deps;
  const due = stores.runs.listDue(clock.now(), before(deps));
  await inBatches(due, ENQUEUE_CONCURRENCY, async ({ id: runId, status, attempts }) => {
    // The entry that a dead worker has taken is still there, so another one is made beside it.
    const jobId = status === "running" ? `${runId}-lost-${attempts}` : runId;
    if (!(await queues.has(agentHook, jobId))) await queues.add(agentHook, { runId }, { jobId });
  });
}

/** Calls `act` for each item, for `size` of them at a time. */
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
    log.warn({ channel, count }, "deliveries fail: their channel is no longer configured");
  }
}

async function requeueDeliveries(deps: SweepDeps): Promise<void> {
  const { stores, queues, clock } = deps;
  const due = stores.deliveries.listDue(clock.now(), before(deps));
  const away = new Set<string>();
  await inBatches(due, ENQUEUE_CONCURRENCY, async ({ _id: deliveryId, channel, claim, notBefore }) => {
    if (away.has(channel)) return;
    // as of runs: an entry that a dead worker has taken is still there
    const occasion = claim ? `lost-${claim.until.getTime()}` : notBefore ? `at-${notBefore.getTime()}` : undefined;
    const entry = { deliveryId, channel };
    try {
      if (!(await queues.hasDelivery(entry, { occasion }))) await queues.deliver(entry, { occasion });
    } catch (error) {
      if (!away.has(channel)) unfinished(deps, error);
      away.add(channel);
    }
  });
}

async function wakeMain(deps: SweepDeps): Promise<void> {
  const { events, sessions } = deps.stores;
  if ((await events.wantsTurn(before(deps))) && !(await sessions.isMainPaused(deps.clock.now()))) {
    await deps.queues.triggerHeartbeat();
  }
}
