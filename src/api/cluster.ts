import cluster, { type Worker } from "node:cluster";
import { setTimeout as pause } from "node:timers/promises";
import { AggregatorRegistry, type Registry, type RegistryContentType } from "prom-client";
import { AppError } from "../shared/errors.ts";
import { type Lifecycle, StartError } from "../shared/lifecycle.ts";
import type { Logger } from "../shared/logger.ts";
import { withTimeout } from "../shared/timeouts.ts";
import type { Timings } from "../shared/timings.ts";

interface MetricsAnswer {
  /** Null when a process does not tell its own: counters of some of them alone would seem to go back. */
  readonly metrics: string | null;
}

const ASK = "signalbox:metrics";
const SILENT = "One of the web processes does not tell its figures; try again, or see what it is at.";

/**
 * Runs the same program `count` times behind one port. The first must be ready before the others start, so that a
 * fault is told once. One that dies is replaced.
 * @returns what the first one said when it was ready, and what has all of them read their configuration again
 * @throws StartError when the first does not get ready; it has told why by then
 */
export async function runCluster(
  count: number,
  log: Logger,
  lifecycle: Lifecycle,
  { replaceMs, maxReplaceMs, metricsMs }: Timings["webProcesses"],
): Promise<{ ready: unknown; reload(): Promise<void> }> {
  const aggregator = new AggregatorRegistry();
  let stopping = false;
  const start = (): Promise<unknown> => {
    const worker = cluster.fork();
    worker.on("message", (message: unknown) => {
      if (message === ASK) void answerMetrics(worker, aggregator, metricsMs);
    });
    return new Promise((resolve, reject) => {
      let ready = false;
      worker.on("message", (message: { ready?: unknown }) => {
        if (message.ready === undefined) return;
        ready = true;
        resolve(message.ready);
      });
      worker.once("exit", (code, signal) => {
        reject(new StartError("The web process could not start."));
        if (stopping || !ready) return;
        log.error({ worker: worker.process.pid, code, signal }, "a web process died; starting another");
        void replace();
      });
    });
  };
  /** What it needs may be away for now: it is tried again until it gets ready. */
  const replace = async () => {
    for (let tries = 0; !stopping; tries++) {
      await pause(Math.min(replaceMs * 2 ** tries, maxReplaceMs), undefined, { ref: false });
      if (
        stopping ||
        (await start().then(
          () => true,
          () => false,
        ))
      )
        return;
    }
  };
  lifecycle.onClose("web processes", async () => {
    stopping = true;
    await Promise.all(workers().map(stopWorker));
  });
  const first = await start();
  await Promise.all(Array.from({ length: count - 1 }, start));
  const reload = async () => {
    for (const worker of workers()) worker.process.kill("SIGHUP");
  };
  return { ready: first, reload };
}

const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

async function stopWorker(worker: Worker): Promise<void> {
  const gone = new Promise((resolve) => worker.once("exit", resolve));
  worker.process.kill("SIGTERM");
  await gone;
}

/** The registry itself gives up after five seconds. */
async function answerMetrics(
  worker: Worker,
  aggregator: AggregatorRegistry<RegistryContentType>,
  withinMs: number,
): Promise<void> {
  const metrics = await withTimeout(aggregator.clusterMetrics(), withinMs).catch(() => null);
  if (worker.isConnected()) worker.send({ metrics } satisfies MetricsAnswer);
}

// Before there is anything to tell: one that waits for its servers while it starts shall not hold up the others' figures.
if (cluster.isWorker) new AggregatorRegistry();

/**
 * The metrics of this process, or of all of them when it is one of a cluster.
 * @returns what throws AppError unavailable when one of these does not answer within five seconds
 */
export function metricsReader(registry: Registry): () => Promise<{ type: string; text: string }> {
  const type = registry.contentType;
  if (!cluster.isWorker) return async () => ({ type, text: await registry.metrics() });
  AggregatorRegistry.setRegistries(registry);
  return () =>
    new Promise((resolve, reject) => {
      const listener = ({ metrics }: Partial<MetricsAnswer>) => {
        if (metrics === undefined) return;
        process.off("message", listener);
        if (metrics === null) reject(new AppError("unavailable", { detail: SILENT, retryAfterSeconds: 5 }));
        else resolve({ type, text: metrics });
      };
      process.on("message", listener);
      process.send?.(ASK);
    });
}
