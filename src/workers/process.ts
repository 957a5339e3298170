import type { Config } from "../config/config.ts";
import type { Environment } from "../config/fill.ts";
import { readConfig } from "../config/load.ts";
import { reloadConfig } from "../config/reload.ts";
import { connectServers } from "../models/connectServers.ts";
import { JobFigures } from "../models/figures/jobFigures.ts";
import { openStores, storeSettings } from "../models/stores.ts";
import { createLogger, LOG_FILE } from "../shared/logger.ts";
import type { Lifecycle, Started } from "../shared/process/lifecycle.ts";
import { answerMetricsRequests } from "../shared/process/workerMetrics.ts";
import { RedisChangeStream } from "../shared/queue/changeStream.ts";
import { Queues } from "../shared/queue/producer.ts";
import { readerConnection, workerConnection } from "../shared/queue/redis.ts";
import type { Timings } from "../shared/timings.ts";
import { serveMetrics, WorkerMetrics } from "./metrics.ts";
import { type Service, startService } from "./service.ts";

/**
 * Starts the worker process as its environment configures it.
 * @throws StartError when the configuration is not usable or a server cannot be reached
 */
export async function startWorkerProcess(lifecycle: Lifecycle, env: Environment, timings: Timings): Promise<Started> {
  const config = readConfig(env);
  const { redis } = config;
  const { level } = config.log;
  const log = createLogger({ level, name: "worker", pretty: process.stdout.isTTY, file: env[LOG_FILE] });
  const { database, clock, redis: producer, redisAddress } = await connectServers(config, lifecycle, { log, timings });
  const connection = workerConnection(redisAddress, log, timings);
  lifecycle.onClose("Redis", async () => connection.disconnect());

  const changes = new RedisChangeStream(producer, redis.prefix);
  lifecycle.onClose("changes", () => changes.flush());
  const queues = new Queues(producer, redis.prefix, clock);
  lifecycle.onClose("queues", () => queues.close());
  const figures = new JobFigures(database.documents.jobFigures, { clock, log, storeEveryMs: timings.storeFiguresMs });
  lifecycle.onClose("job figures", () => figures.flush());
  const metrics = new WorkerMetrics();
  const stopAnswering = answerMetricsRequests(process, () => metrics.ownText());
  lifecycle.onClose("metrics", async () => stopAnswering());
  const { metricsPort } = config.worker;
  if (metricsPort !== undefined) {
    const served = await serveMetrics(metrics.registry, { port: metricsPort, host: config.server.host });
    lifecycle.onClose("metrics", served.close);
    log.info({ url: served.url }, "the worker serves its metrics");
  }
  const openReader = () => readerConnection(redisAddress, log, timings);
  const runEvents = { redis: producer, prefix: redis.prefix, changes };
  const common = { queues, connection, openReader, runEvents, clock, log, metrics, timings, env };
  const start = (config: Config) =>
    startService(config, {
      ...common,
      stores: openStores(database, clock, { ...storeSettings(config), changes, notes: queues, counter: figures }),
    });
  let current = config;
  let service = start(config);
  const retired = new Set<Service>();
  lifecycle.onClose("service", async () => {
    await Promise.all([service, ...retired].map((each) => each.close()));
  });
  /** Replaces the service. The previous one finishes its active jobs and starts no new ones. */
  const apply = (changed: Config) => {
    const next = start(changed);
    const previous = service;
    service = next;
    retired.add(previous);
    void previous.retire().finally(() => retired.delete(previous));
  };
  const reload = async () => {
    const { config, problem } = await reloadConfig(env, current, log, apply);
    current = config;
    return problem;
  };
  log.info("the worker is ready");
  lifecycle.onClose("log", async () => log.info("the worker is stopping"));
  return {
    ready: {},
    deadlineMs: config.worker.shutdownSeconds * 1_000,
    reload,
    onError: (name, error) => log.error({ err: error }, `${name} failed to close`),
  };
}
