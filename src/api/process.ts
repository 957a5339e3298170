import cluster from "node:cluster";
import type { Environment } from "../config/fill.ts";
import { loadConfig } from "../config/load.ts";
import { reloadConfig } from "../config/reload.ts";
import { connectServers } from "../models/connectServers.ts";
import { createLogger, LOG_FILE } from "../shared/logger.ts";
import type { Lifecycle, Started } from "../shared/process/lifecycle.ts";
import { howToBuild } from "../shared/process/ownCommands.ts";
import { COLLECT_TIMEOUT_MS } from "../shared/process/processMetrics.ts";
import { OFFER, requestWorkerMetrics } from "../shared/process/workerMetrics.ts";
import type { Timings } from "../shared/timings.ts";
import { runCluster } from "./cluster.ts";
import { DASHBOARD, isBuilt } from "./pages/dashboard.ts";
import { startWeb } from "./web.ts";

/**
 * Starts the web process as configured by its environment: the API itself, or `server.concurrency` processes that share the
 * port.
 * @throws StartError when the configuration is invalid or a server cannot be reached
 */
export async function startWebProcess(lifecycle: Lifecycle, env: Environment, timings: Timings): Promise<Started> {
  const { config, written } = loadConfig(env);
  const { server } = config;
  const { level } = config.log;
  const log = createLogger({ level, name: "web", pretty: process.stdout.isTTY, file: env[LOG_FILE] });
  const options = {
    deadlineMs: server.shutdownSeconds * 1_000,
    onError: (name: string, error: unknown) => log.error({ err: error }, `${name} failed to close`),
  };
  const readWorkerMetrics = cluster.isPrimary ? workerMetricsReader(lifecycle) : undefined;
  if (server.concurrency > 1 && readWorkerMetrics) {
    const { ready, reload } = await runCluster(
      server.concurrency,
      log,
      lifecycle,
      timings.webProcesses,
      readWorkerMetrics,
    );
    return { ...options, ready, reload };
  }

  const servers = await connectServers(config, lifecycle, { log, timings });
  const web = await startWeb(lifecycle, config, {
    ...servers,
    written,
    log,
    timings,
    ...(readWorkerMetrics && { readWorkerMetrics }),
  });
  if (!isBuilt(DASHBOARD)) log.warn(`the dashboard is not built: ${howToBuild()}; the API works without it`);
  log.info({ url: web.url }, "the API is ready");
  lifecycle.onClose("log", async () => log.info("the API is stopping"));
  let current = config;
  const reload = async () => {
    const { config, problem } = await reloadConfig(env, current, log, web.apply);
    current = config;
    return problem;
  };
  return { ...options, ready: { url: web.url }, reload };
}

/** Returns a function that reads the worker's metrics through the parent process once that has offered them. */
function workerMetricsReader(lifecycle: Lifecycle): () => Promise<string> {
  let isOffered = false;
  const listener = (message: unknown) => {
    isOffered ||= message === OFFER;
  };
  process.on("message", listener);
  lifecycle.onClose("worker metrics", async () => void process.off("message", listener));
  return async () => (isOffered ? requestWorkerMetrics(process, COLLECT_TIMEOUT_MS) : "");
}
