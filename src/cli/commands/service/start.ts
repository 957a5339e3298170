import { once } from "node:events";
import { watch as watchFiles } from "node:fs";
import { createServer } from "node:net";
import { join, resolve } from "node:path";
import type { Config } from "../../../config/config.ts";
import { ConfigError } from "../../../config/load.ts";
import { LOG_FILE } from "../../../shared/logger.ts";
import { type Lifecycle, runProcess, StartError, type Started } from "../../../shared/process/lifecycle.ts";
import { modulePath } from "../../../shared/process/ownCommands.ts";
import { type Define, withExamples } from "../../command.ts";
import { type Child, type ChildOptions, launchChild, ReportedStartError } from "../../start/child.ts";
import { findRunningInstance } from "../../start/dataDirectoryLock.ts";
import { MONGOD_STOPS_WITHIN_MS } from "../../start/embedded/mongod.ts";
import { REDIS_STOPS_WITHIN_MS } from "../../start/embedded/redis.ts";
import { startServers } from "../../start/embedded/servers.ts";
import { findAgents } from "../../start/findAgents.ts";
import { readSettings, type Settings } from "../../start/firstUse.ts";
import { limitLog, logFile } from "../../start/logFile.ts";
import { OptionalChild } from "../../start/optionalChild.ts";
import { stopWithParent } from "../../start/parent.ts";
import { relayMetrics } from "../../start/relayMetrics.ts";
import { summary } from "../../start/summary.ts";
import { type Supervised, supervise } from "../../start/supervised.ts";

/** The directory that `--watch` watches. */
const SOURCE = join(import.meta.dirname, "..", "..", "..");
/** Time that a process may need to stop beyond its configured wait for work in flight. */
const GRACE_MS = 5_000;

/** `start`: runs everything on one machine. */
export const start: Define = (command, environment) =>
  withExamples(
    command.option("--watch", "restart the API and the worker when a source file changes"),
    "signalbox start",
    "signalbox start --watch",
  ).action(async ({ watch = false }: { readonly watch?: boolean }) => runAll(await environment(), { watch }));

/** The processes that `start` runs and supervises. */
interface Processes {
  readonly web: Supervised<Child>;
  readonly worker: Supervised<Child>;
  /** Runs while `hooks.gmail` is set. */
  readonly listener: OptionalChild;
}

/**
 * Starts servers that are not configured, creates the indexes, and then starts web, worker and, if `hooks.gmail` is set, the
 * Gmail listener as processes of their own. They stop in reverse order: listener, web, worker, Redis, MongoDB.
 */
function runAll(given: NodeJS.ProcessEnv, options: { readonly watch: boolean }): Promise<void> {
  return runProcess(async (lifecycle) => {
    stopWithParent(given);
    const settings = readSettings(given);
    try {
      const { server, dataDir } = settings.config;
      // An instance that runs in the data directory has the port. The lock names it, and waits while it stops.
      if (server.port !== 0 && !findRunningInstance(resolve(dataDir))) await checkPort(server);
      return await startAll(given, settings, options, lifecycle);
    } catch (error) {
      if (!(error instanceof ReportedStartError)) throw error;
      await lifecycle.close(); // the process has printed the reason
      process.exit(1);
    }
  });
}

async function startAll(
  given: NodeJS.ProcessEnv,
  { config, env, generatedToken }: Settings,
  { watch }: { readonly watch: boolean },
  lifecycle: Lifecycle,
): Promise<Started> {
  const { mongodbUri, redisUrl, lock } = await startServers(config, lifecycle);
  const { prepareDatabase } = await import("./release.ts"); // loaded late, so that the servers start sooner
  const mongodbVersion = await prepareDatabase(mongodbUri);

  console.log("Starting the API and the worker …");
  const childEnv: NodeJS.ProcessEnv = { ...env, MONGODB_URI: mongodbUri, REDIS_URL: redisUrl };
  if (lock) {
    childEnv[LOG_FILE] = logFile(lock.dataDir);
    lifecycle.onClose("log", limitLog(lock.dataDir));
  }
  const processes = superviseProcesses(config, { env: childEnv, lock, watch }, lifecycle);
  const { web, worker, listener } = processes;
  const isEcho = config.hooks.enabled && config.agents.defaults.runner === "echo";
  const agents = isEcho ? findAgents(given) : [];
  lifecycle.onClose("instance", async () => lock?.markStopping());
  const listenerStarted = listener.setWanted(config.hooks.gmail !== undefined);
  const [{ url = "" }] = await Promise.all([web.start(), worker.start(), listenerStarted]);
  // After a restart the process keeps the free port that it chose first.
  if (config.server.port === 0 && url) childEnv.PORT = new URL(url).port;
  lock?.setUrl(url);
  if (watch) {
    const restart = (file: string) => {
      console.log(`${file} changed: restarting the API and the worker …`);
      for (const supervised of [web, worker, listener]) void supervised.restart();
    };
    lifecycle.onClose("watch", watchSource(SOURCE, restart));
  }
  console.log(
    summary(
      { config, generatedToken },
      {
        url,
        watch,
        // Without an embedded server no lock names this process, so `signalbox reload` would not find it.
        reload: lock ? "npx signalbox reload" : `kill -HUP ${process.pid}`,
        hasLogFile: lock !== undefined,
        mongodbVersion: config.mongodb.uri && mongodbVersion,
        agents: await agents,
      },
    ),
  );
  return {
    async reload() {
      const problem = await reloadProcesses(given, processes);
      if (problem === undefined) console.log("The changed configuration is in effect.");
      else console.error(`${problem}\nThe previous configuration stays in effect.`);
      lock?.setReloaded(problem);
      return problem;
    },
    ready: { url },
    // The Gmail listener has as much time as the worker.
    deadlineMs: webStopsMs(config) + 2 * workerStopsMs(config) + REDIS_STOPS_WITHIN_MS + MONGOD_STOPS_WITHIN_MS,
    onError: (name, error) => console.error(`${name} failed to stop: ${error}`),
  };
}

const webStopsMs = ({ server }: Config) => server.shutdownSeconds * 1_000 + GRACE_MS;
const workerStopsMs = ({ worker }: Config) => worker.shutdownSeconds * 1_000 + GRACE_MS;

/** Returns the processes, none of them started. The lifecycle stops them. */
function superviseProcesses(
  config: Config,
  { env, lock, watch }: Pick<ChildOptions, "env" | "lock"> & { readonly watch: boolean },
  lifecycle: Lifecycle,
): Processes {
  const child = (
    name: string,
    script: string,
    stopsWithinMs: number,
    args: string[] = [],
    onLaunch: (launched: Child) => void = () => {},
  ) => {
    const options = { name, script: modulePath(script), args, env, stopsWithinMs, lock };
    const launch = async (signal: AbortSignal) => {
      const launched = await launchChild(options, signal);
      onLaunch(launched);
      return launched;
    };
    return supervise({ name, launch, restartOnExit: !watch }, lifecycle);
  };
  const worker = child("worker", "workers/main", workerStopsMs(config));
  const web = child("web", "api/main", webStopsMs(config), [], (launched) => {
    if (config.worker.metricsPort === undefined) relayMetrics(launched.peer, () => worker.running?.peer);
  });
  const listener = new OptionalChild(() =>
    child("Gmail listener", "cli/main", workerStopsMs(config), ["webhooks", "gmail", "run"]),
  );
  return { web, worker, listener };
}

/**
 * Checks the configuration and lets the processes read it. An unusable file is reported only here, and only once.
 * @returns why the previous configuration stays in effect; undefined if the changed one is
 */
async function reloadProcesses(
  given: NodeJS.ProcessEnv,
  { web, worker, listener }: Processes,
): Promise<string | undefined> {
  let changed: Config;
  try {
    changed = readSettings(given).config;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return error.message;
  }
  const listenerProblem = listener
    .setWanted(changed.hooks.gmail !== undefined)
    .catch((error: Error) => `The Gmail listener did not start: ${error.message}`);
  const problems = await Promise.all([web.reload(), worker.reload(), listenerProblem]);
  return problems.find((problem) => problem !== undefined);
}

/**
 * Checks that nothing listens at the address of the API, before the servers and processes start, so that the error is not
 * lost among their messages. Other problems of the address are reported by the web process.
 * @throws StartError if the port is taken
 */
async function checkPort({ port, host }: { readonly port: number; readonly host: string }): Promise<void> {
  const server = createServer();
  try {
    await once(server.listen({ port, host, exclusive: true }), "listening");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EADDRINUSE") return;
    throw new StartError(
      `Port ${port} on ${host} is taken: stop the program that uses it, or set PORT to another (server.port).`,
    );
  } finally {
    server.close();
  }
}

/** Time without a further change after which a burst of changes has ended. */
const DEBOUNCE_MS = 150;

/**
 * Calls `onChange` once for each burst of changes to source files below the directory.
 * @returns a function that stops watching
 */
function watchSource(directory: string, onChange: (file: string) => void): () => Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const watcher = watchFiles(directory, { recursive: true }, (_, file) => {
    if (!file || !/\.([jt]s|json)$/.test(file)) return;
    clearTimeout(timer);
    timer = setTimeout(() => onChange(file), DEBOUNCE_MS);
  });
  return async () => {
    clearTimeout(timer);
    watcher.close();
  };
}
