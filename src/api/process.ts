import cluster from "node:cluster";
import { connectDatabase } from "../models/db/database.ts";
import type { Environment } from "../shared/config/fill.ts";
import { readConfig, requireServers } from "../shared/config/load.ts";
import { reloadConfig } from "../shared/config/reload.ts";
import type { Lifecycle, Started } from "../shared/lifecycle.ts";
import { createLogger } from "../shared/logger.ts";
import { connectProducer } from "../shared/queue/redis.ts";
import type { Timings } from "../shared/timings.ts";
import { runCluster } from "./cluster.ts";
import { DASHBOARD, isBuilt } from "./dashboard.ts";
import { startWeb } from "./web.ts";

/**
 * Starts the web process as configured by its environment: the API itself, or `server.concurrency` processes that share the
 * port.
 * @throws StartError when the configuration is invalid or a server cannot be reached
 */
export async function startWebProcess(lifecycle: Lifecycle, env: Environment, timings: Timings): Promise<Started> {
  const config = readConfig(env);
  const { server } = config;
  const log = createLogger({ level: config.log.level, name: "web", pretty: process.stdout.isTTY });
  const options = {
    deadlineMs: server.shutdownSeconds * 1_000,
    onError: (name: string, error: unknown) => log.error({ err: error }, `${name} failed to close`),
  };
  if (server.concurrency > 1 && cluster.isPrimary) {
    const { ready, reload } = await runCluster(server.concurrency, log, lifecycle, timings.webProcesses);
    return { ...options, ready, reload };
  }

  const { mongodbUri, redisAddress } = requireServers(config);
  const database = await connectDatabase(mongodbUri);
  lifecycle.onClose("MongoDB", () => database.close());
  const { clock } = database;
  await database.checkPrepared();
  const redis = await connectProducer(redisAddress, log, timings);
  lifecycle.onClose("Redis", async () => redis.disconnect());
  const web = await startWeb(lifecycle, config, { database, redis, redisAddress, clock, log, timings });
  if (!isBuilt(DASHBOARD)) log.warn("the dashboard is not built: run `npm run build`; the API works without it");
  log.info({ url: web.url }, "the API is ready");
  lifecycle.onClose("log", async () => log.info("the API is stopping"));
  let current = config;
  const reload = async () => {
    current = await reloadConfig(env, current, log, web.apply);
  };
  return { ...options, ready: { url: web.url }, reload };
}
