import { connectDatabase } from "../models/database.ts";
import { openStores } from "../models/stores.ts";
import { systemClock } from "../shared/clock.ts";
import { loadDotEnv, readConfig, requireServers } from "../shared/config.ts";
import { Queues } from "../shared/enqueue.ts";
import { runProcess } from "../shared/lifecycle.ts";
import { createLogger } from "../shared/logger.ts";
import { connectRedis, producerConnection, workerConnection } from "../shared/redis.ts";
import { serveMetrics, WorkerMetrics } from "./metrics.ts";
import { startService } from "./service.ts";

await runProcess(async (lifecycle) => {
  loadDotEnv();
  const config = readConfig(process.env);
  const { redis } = config;
  const log = createLogger({ level: config.log.level, name: "worker", pretty: process.stdout.isTTY });
  const { mongodbUri, redisUrl } = requireServers(config);
  const database = await connectDatabase(mongodbUri);
  lifecycle.onClose("MongoDB", () => database.close());
  await database.checkIndexes();
  const producer = await connectRedis(producerConnection(redisUrl, log));
  lifecycle.onClose("Redis", async () => producer.disconnect());
  const connection = workerConnection(redisUrl, log);
  lifecycle.onClose("Redis", async () => connection.disconnect());

  const stores = openStores(database, systemClock, config.jobs);
  const queues = new Queues(producer, redis.prefix);
  lifecycle.onClose("queues", () => queues.close());
  const metrics = new WorkerMetrics();
  const { metricsPort } = config.worker;
  if (metricsPort !== undefined) {
    const served = await serveMetrics(metrics.registry, { port: metricsPort, host: config.server.host });
    lifecycle.onClose("metrics", served.close);
  }
  const common = { stores, queues, connection, clock: systemClock, log, metrics };
  const service = startService(config, { ...common, env: process.env });
  lifecycle.onClose("service", service.close);
  log.info("the worker is ready");
  return {
    ready: {},
    deadlineMs: config.worker.shutdownSeconds * 1_000,
    onError: (name, error) => log.error({ err: error }, `${name} did not close well`),
  };
});
