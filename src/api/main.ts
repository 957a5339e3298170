import cluster from "node:cluster";
import { connectDatabase } from "../models/database.ts";
import { openStores, type Stores } from "../models/stores.ts";
import { RedisChanges } from "../shared/changes.ts";
import { loadDotEnv, readConfig, requireServers } from "../shared/config.ts";
import type { Config } from "../shared/configSchema.ts";
import { Queues } from "../shared/enqueue.ts";
import { runProcess } from "../shared/lifecycle.ts";
import { createLogger } from "../shared/logger.ts";
import { connectProducer, pingRedis, readerConnection } from "../shared/redis.ts";
import { rereadConfig } from "../shared/reload.ts";
import { version } from "../shared/version.ts";
import { buildApp } from "./app.ts";
import { metricsReader, runCluster } from "./cluster.ts";
import { addGmailMetrics } from "./gmailMetrics.ts";
import { LiveFeed } from "./live/liveFeed.ts";
import { Metrics } from "./metrics.ts";
import { failureCounter } from "./middleware/auth.ts";
import { listen } from "./server.ts";

await runProcess(async (lifecycle) => {
  loadDotEnv();
  const config = readConfig(process.env);
  const { server, redis } = config;
  const log = createLogger({ level: config.log.level, name: "web", pretty: process.stdout.isTTY });
  const running = {
    deadlineMs: server.shutdownSeconds * 1_000,
    onError: (name: string, error: unknown) => log.error({ err: error }, `${name} did not close well`),
  };
  if (server.concurrency > 1 && cluster.isPrimary) {
    const { ready, reload } = await runCluster(server.concurrency, log, lifecycle);
    return { ...running, ready, reload };
  }

  const { mongodbUri, redisAddress } = requireServers(config);
  const database = await connectDatabase(mongodbUri);
  lifecycle.onClose("MongoDB", () => database.close());
  const { clock } = database;
  await database.checkIndexes();
  const connection = await connectProducer(redisAddress, log);
  lifecycle.onClose("Redis", async () => connection.disconnect());
  const queues = new Queues(connection, redis.prefix, clock);
  lifecycle.onClose("queues", () => queues.close());

  const changes = new RedisChanges(connection, redis.prefix);
  lifecycle.onClose("changes", () => changes.flush());
  const storesOf = (settings: Config) => openStores(database, clock, settings.jobs, changes);
  const stores = storesOf(config);
  const live = new LiveFeed(stores, {
    ...{ clock, log, prefix: redis.prefix, redis: connection },
    reader: readerConnection(redisAddress, log),
  });
  lifecycle.onClose("live events", () => live.close());

  let stopping = false;
  const metrics = new Metrics(
    () => queues.depths(),
    () => stores.events.countWaiting(),
    () => live.size,
    () => http.connections(),
  );
  const readMailbox = async () => {
    const { gmail } = current.hooks;
    return gmail ? stores.gmailMailboxes.find(gmail.account) : null;
  };
  addGmailMetrics(metrics.registry, readMailbox, clock);
  const countFailure = failureCounter(connection, redis.prefix);
  const appOf = (settings: Config, stores: Stores) => {
    const { hooks, agents, channels, session, server } = settings;
    return buildApp(
      {
        ...{ stores, queues, hooks, log, metrics, live },
        agent: agents.defaults,
        channels: new Set(Object.keys(channels)),
        firstRoute: session.main ?? null,
        clock,
        probes: [
          { name: "mongodb", check: () => database.ping() },
          { name: "redis", check: () => pingRedis(connection) },
        ],
        isStopping: () => stopping,
      },
      { version, ...server, countFailure, readMetrics: metricsReader(metrics.registry) },
    ).callback();
  };
  let answer = appOf(config, stores);
  const http = await listen((req, res) => void answer(req, res), { ...server, isStopping: () => stopping });
  lifecycle.onClose("HTTP server", () => {
    stopping = true;
    live.end();
    return http.close();
  });
  log.info({ url: http.url }, "the API is ready");
  lifecycle.onClose("log", async () => log.info("the API is stopping"));
  let current = config;
  const reload = async () => {
    const changed = rereadConfig(process.env, current, log);
    if (!changed) return;
    current = changed;
    const changedStores = storesOf(changed);
    answer = appOf(changed, changedStores); // requests under way are answered as they began
    live.restart(changedStores);
  };
  return { ...running, ready: { url: http.url }, reload };
});
