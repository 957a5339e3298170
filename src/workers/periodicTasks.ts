import { expireGates } from "../models/gates/repairGates.ts";
import type { Logger } from "../shared/logger.ts";
import { heartbeat, retention } from "../shared/queue/definitions.ts";
import type { Queues } from "../shared/queue/producer.ts";
import type { Timings } from "../shared/timings.ts";
import type { WorkerMetrics } from "./metrics.ts";
import { recordScan, type ScanDeps } from "./notify/recordScan.ts";
import { startScan } from "./notify/scan.ts";
import { startInEachProcess, startPeriodic } from "./periodic.ts";
import { type SweepDeps, startSweep } from "./sweep.ts";
import type { SpanReceiver, SpanSender } from "./traces/spanSender.ts";

/** How often retention runs: often enough that each of its passes is short. */
const RETENTION_EVERY_MS = 60_000;

export interface PeriodicTasksDeps extends Omit<SweepDeps, "timings">, Omit<ScanDeps, "stores" | "queues" | "timings"> {
  readonly queues: Queues;
  readonly timings: Timings;
  readonly metrics: WorkerMetrics;
  /** The receiver of traces; undefined while they are off. */
  readonly traces: SpanReceiver | undefined;
  /** Null for no heartbeats. */
  readonly heartbeatEveryMs: number | null;
}

/**
 * Starts everything that a worker process does at intervals. This is the whole list; a new task is an entry of it.
 *
 * | task | every | by | records from the age of | reason |
 * |---|---|---|---|---|
 * | sweep | 5 s | one process | 5 s: a younger record is probably being enqueued by its own process | Redis may be emptied, and a process may die between two writes |
 * | scan | 5 s | one process | that each rule says; 5 s for notifications to dispatch | no request reports that a job is silent or missing |
 * | record of the scan | 5 s | each process | – | a long pass of the scan is no outage |
 * | expiry of gates | 2 s | each process | 0: a gate may be at most 5 s late | a sweep may take longer than a gate may be late |
 * | traces | 5 s | one process | 0: whatever has ended is sent together | a receiver that is down delays nothing else |
 * | schedules | 60 s | each process | – | Redis keeps the times of retention and heartbeat, and may be emptied |
 * | retention (by its schedule) | 60 s | one process | that `retention` says | records are kept for a time |
 * | heartbeat (by its schedule) | `agents.defaults.heartbeat.every` | one process | 0 | the main session reads its events |
 *
 * Messages that follow jobs have a loop of their own (`live/startLive.ts`), because they follow a stream.
 *
 * A task of one process works under a lease (`startPeriodic`) or as a job of a queue. A task of each process is one whose
 * processes agree when they work at the same time.
 */
export function startPeriodicTasks(deps: PeriodicTasksDeps): { close(): Promise<void> } {
  const { stores, queues, log, timings, heartbeatEveryMs } = deps;
  const { sweep, gateExpiryMs, renewSchedulesMs: renewEveryMs } = timings;
  const scan = { ...deps, timings: sweep };
  const tasks = [
    startSweep({ ...deps, timings: sweep }),
    startScan(scan),
    startInEachProcess("record of the scan", sweep.everyMs, () => recordScan(scan), log),
    startInEachProcess("expiry of gates", gateExpiryMs, () => expireGates(stores), log),
    startSchedules(queues, log, { heartbeatEveryMs, renewEveryMs }),
    ...(deps.traces ? [startTraces(deps, deps.traces)] : []),
  ];
  return {
    async close() {
      await Promise.all(tasks.map((task) => task.close()));
    },
  };
}

/** Sends the spans that wait. The module is loaded by the first pass, so that it is not without traces. */
function startTraces(deps: PeriodicTasksDeps, receiver: SpanReceiver): { close(): Promise<void> } {
  const stop = new AbortController();
  let sender: Promise<SpanSender> | undefined;
  const send = async (_: PeriodicTasksDeps, lost: AbortSignal) => {
    sender ??= import("./traces/spanSender.ts").then((module) => new module.SpanSender(receiver, deps));
    await (await sender).sendAll([lost, stop.signal]);
  };
  const task = startPeriodic("traces", { everyMs: deps.timings.traces.everyMs, pauseFactor: 0 }, [send], deps);
  return {
    async close() {
      stop.abort();
      await task.close();
      await (await sender)?.close();
    },
  };
}

/** Stores the schedules of retention and heartbeat in Redis, now and at each interval. Without heartbeats a former schedule is removed. */
export function startSchedules(
  queues: Pick<Queues, "schedule" | "unschedule">,
  log: Logger,
  { heartbeatEveryMs, renewEveryMs }: { heartbeatEveryMs: number | null; renewEveryMs: number },
): { close(): Promise<void> } {
  const store = () =>
    Promise.all([
      queues.schedule(retention, {}, { everyMs: RETENTION_EVERY_MS, immediately: true }),
      heartbeatEveryMs === null
        ? queues.unschedule(heartbeat)
        : queues.schedule(heartbeat, { scheduled: true }, { everyMs: heartbeatEveryMs, immediately: false }),
    ]);
  return startInEachProcess("storing of the schedules in Redis", renewEveryMs, store, log, { immediately: true });
}
