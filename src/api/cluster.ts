import cluster, { type Worker } from "node:cluster";
import { setTimeout as pause } from "node:timers/promises";
import { AggregatorRegistry, type Registry } from "prom-client";
import { backoff } from "../shared/backoff.ts";
import { AppError } from "../shared/errors.ts";
import type { Logger } from "../shared/logger.ts";
import { type Lifecycle, StartError } from "../shared/process/lifecycle.ts";
import { reloadProcess } from "../shared/process/reloadProcess.ts";
import { withTimeout } from "../shared/timeouts.ts";
import type { Timings } from "../shared/timings.ts";

interface MetricsReply {
  /** Null when one process did not answer: totals without its counters would seem to decrease. */
  readonly metrics: string | null;
}

const METRICS_REQUEST = "signalbox:metrics";
const METRICS_UNAVAILABLE = "One of the web processes does not return its metrics. Try again, or look at its log.";

/**
 * Runs the same program in `count` processes behind one port, and replaces processes that exit. Starts the others only when
 * the first is ready, so that a fault of the configuration is logged once.
 * @param readWorkerMetrics reads the metrics of the worker process beside this one; never rejects
 * @returns `ready`, the message of the first process, and `reload`, which makes all processes reload their configuration
 * @throws StartError when the first process exits before it is ready; it has logged the reason
 */
export async function runCluster(
  count: number,
  log: Logger,
  lifecycle: Lifecycle,
  { replaceMs, maxReplaceMs, metricsMs }: Timings["webProcesses"],
  readWorkerMetrics: () => Promise<string>,
): Promise<{ ready: unknown; reload(): Promise<string | undefined> }> {
  const aggregator = new AggregatorRegistry();
  const readAll = async () => {
    const [own, ofWorker] = await Promise.all([aggregator.clusterMetrics(), readWorkerMetrics()]);
    return own + ofWorker;
  };
  let stopping = false;
  const start = (): Promise<unknown> => {
    const worker = cluster.fork();
    worker.on("message", (message: unknown) => {
      if (message === METRICS_REQUEST) void answerMetrics(worker, withTimeout(readAll(), metricsMs));
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
        log.error({ worker: worker.process.pid, code, signal }, "a web process exited; another one is started");
        void replace();
      });
    });
  };
  /** Retries until a process is ready, because MongoDB or Redis may be unavailable. */
  const replace = async () => {
    const delayMs = backoff({ initialMs: replaceMs, maxMs: maxReplaceMs });
    for (let tries = 0; !stopping; tries++) {
      await pause(delayMs(tries + 1), undefined, { ref: false });
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
    const problems = await Promise.all(workers().map(({ process }) => reloadProcess(process)));
    return problems.find((problem) => problem !== undefined);
  };
  return { ready: first, reload };
}

const workers = (): Worker[] => Object.values(cluster.workers ?? {}).filter((worker) => worker !== undefined);

async function stopWorker(worker: Worker): Promise<void> {
  const exited = new Promise((resolve) => worker.once("exit", resolve));
  worker.process.kill("SIGTERM");
  await exited;
}

/** Sends a worker the metrics of all workers. */
async function answerMetrics(worker: Worker, reading: Promise<string>): Promise<void> {
  const metrics = await reading.catch(() => null);
  if (worker.isConnected()) worker.send({ metrics } satisfies MetricsReply);
}

// Answers requests for metrics from the start, so that a process that waits for its servers does not block those of others.
if (cluster.isWorker) new AggregatorRegistry();

/**
 * Returns a function that reads the metrics of this process, or of all processes when it is one of a cluster, and those of the
 * worker beside it. A process of a cluster gets both from the primary process. The function throws AppError unavailable when
 * one of the web processes does not answer in time.
 */
export function metricsReader(
  registry: Registry,
  readWorkerMetrics: () => Promise<string> = async () => "",
): () => Promise<{ type: string; text: string }> {
  const type = registry.contentType;
  if (!cluster.isWorker) {
    return async () => {
      const [own, ofWorker] = await Promise.all([registry.metrics(), readWorkerMetrics()]);
      return { type, text: own + ofWorker };
    };
  }
  AggregatorRegistry.setRegistries(registry);
  return () =>
    new Promise((resolve, reject) => {
      const listener = ({ metrics }: Partial<MetricsReply>) => {
        if (metrics === undefined) return;
        process.off("message", listener);
        if (metrics === null)
          reject(new AppError("unavailable", { detail: METRICS_UNAVAILABLE, retryAfterSeconds: 5 }));
        else resolve({ type, text: metrics });
      };
      process.on("message", listener);
      process.send?.(METRICS_REQUEST);
    });
}
