import { fileURLToPath } from "node:url";
import { Redis } from "ioredis";
import type { mongo } from "mongoose";
import { heapOptions } from "../src/cli/start/heapOptions.ts";
import { connectDatabase, type Database } from "../src/models/db/database.ts";
import type { RunDoc } from "../src/models/runs/run.ts";
import type { Lifecycle } from "../src/shared/process/lifecycle.ts";
import { mongoUri, redisUrl } from "../test/support/servers/servers.ts";
import { type Child, startChild } from "./child.ts";
import { type HookConfig, writeHookConfig } from "./hooks.ts";
import { JOB_IDS, JOBS } from "./jobs.ts";
import { ASK, type Holding } from "./probe.ts";
import type { Service } from "./service.ts";

export interface Ours extends Service {
  readonly config: HookConfig;
  readonly database: Database;
  readonly runs: mongo.Collection<RunDoc>;
  readonly web: Web;
  /** The URL of the Redis with BullMQ's queues. */
  readonly redis: string;
  /** Starts another API on the same database. */
  startWeb(env?: Record<string, string>): Promise<Web>;
  /** Starts a worker; without it no run is executed. */
  startWorker(env?: Record<string, string>): Promise<Started>;
}

/** A started process of Signalbox. */
export interface Started extends Pick<Child<unknown>, "process" | "stop" | "nextMessage"> {
  /** Milliseconds from its start to its readiness. */
  readonly readyAfterMs: number;
}

export interface Naive extends Service, Started {}

export interface Web extends Service, Started {}

/** Returns the URI of a database of this process: tests may run at the same time on the same mongod. */
export const databaseUri = (name: string): Promise<string> => mongoUri(`bench-${process.pid}-${name}`);

/**
 * Starts a mongod and a redis-server, then Signalbox and the naive service, each as a process with a database of its
 * own. `lifecycle` closes all of them.
 * @param execArgv options of Node for Signalbox's web process
 */
export async function startServices(
  lifecycle: Lifecycle,
  transformTimeoutSeconds: number,
  execArgv: readonly string[] = [],
): Promise<[ours: Ours, naive: Naive]> {
  const [ours, naive, redis] = await Promise.all([databaseUri("ours"), databaseUri("naive"), redisUrl()]);
  const [oursDatabase, naiveDatabase] = await Promise.all([open(lifecycle, ours), open(lifecycle, naive)]);
  await oursDatabase.prepare();
  const queues = new Redis(redis);
  lifecycle.onClose("Redis", async () => queues.disconnect());
  const clear = async ({ collections: { runs, events } }: Database) => {
    await Promise.all([runs.deleteMany({}), events.deleteMany({})]);
    await queues.flushdb();
  };

  const config = writeHookConfig(transformTimeoutSeconds);
  lifecycle.onClose("configuration", config.remove);
  const env = { MONGODB_URI: ours, REDIS_URL: redis, SIGNALBOX_CONFIG: config.path, LOG_LEVEL: "warn" };
  const startWeb = (more: Record<string, string> = {}) => startApi(lifecycle, { ...env, ...more });
  const [web, { ready, ...naiveStarted }] = await Promise.all([
    startApi(lifecycle, env, execArgv),
    start<{ url: string }>(lifecycle, "naive", NAIVE, { MONGODB_URI: naive, REDIS_URL: redis }),
  ]);
  return [
    {
      name: "signalbox",
      ...{ url: web.url, database: oursDatabase, runs: oursDatabase.collections.runs, config, web, redis, startWeb },
      clear: () => clear(oursDatabase),
      startWorker: (more = {}) => startWorker(lifecycle, { ...env, ...more }),
    },
    { ...naiveStarted, name: "naive", url: ready.url, clear: () => clear(naiveDatabase) },
  ];
}

/** A web process of Signalbox and its database. */
export interface Side {
  readonly web: Web;
  readonly database: Database;
}

/** Starts two web processes, each on an empty database of its own, which the caller fills. */
export async function startPair(lifecycle: Lifecycle): Promise<[Side, Side]> {
  const redis = await redisUrl();
  const sides = await Promise.all(
    ["empty", "full"].map(async (name, i) => {
      const uri = await databaseUri(name);
      const database = await open(lifecycle, uri);
      await database.prepare();
      const web = await startApi(lifecycle, { MONGODB_URI: uri, REDIS_URL: `${redis}/${i}`, LOG_LEVEL: "warn" });
      return { web, database };
    }),
  );
  return sides as [Side, Side];
}

/** Starts the load, which uses the first `jobs` of the jobs. */
export async function startLoad(lifecycle: Lifecycle, jobs: number = JOB_IDS.length): Promise<Child<true>> {
  const load = await startChild<true>(LOAD, { [JOBS]: String(jobs) });
  lifecycle.onClose("load", load.stop);
  return load;
}

/** @param execArgv options of Node */
export async function startApi(
  lifecycle: Lifecycle,
  env: Record<string, string>,
  execArgv: readonly string[] = [],
): Promise<Web> {
  const more = { PORT: "0", HOST: "127.0.0.1", WEB_CONCURRENCY: "1" };
  const { ready, ...started } = await start<{ url: string }>(lifecycle, "signalbox", API, { ...more, ...env }, [
    ...heapOptions({}),
    ...execArgv,
  ]);
  return { ...started, name: "signalbox", url: ready.url, clear: async () => {} };
}

/** @param execArgv options of Node */
export const startWorker = (
  lifecycle: Lifecycle,
  env: Record<string, string>,
  execArgv: readonly string[] = [],
): Promise<Started> => start(lifecycle, "worker", WORKER, env, [...heapOptions({}), ...execArgv]);

/** Options of Node for a process whose resources holdingOf() can read. */
export const PROBED = ["--expose-gc", "--import", new URL("./probe.ts", import.meta.url).href];

/** Returns the resources of a process after a garbage collection. */
export async function holdingOf(started: Started): Promise<Holding> {
  started.process.send(ASK);
  return ((await started.nextMessage()) as { holding: Holding }).holding;
}

/** Returns the number of open connections and event streams, including the caller's. */
export async function connectionsOf({ url }: Service): Promise<number> {
  const text = await (await fetch(`${url}/metrics`)).text();
  const value = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, "m").exec(text)?.[1]);
  return value("signalbox_http_connections") + value("signalbox_event_streams");
}

const API = new URL("../src/api/main.ts", import.meta.url);
const WORKER = new URL("../src/workers/main.ts", import.meta.url);
const LOAD = new URL("./load.ts", import.meta.url);
const NAIVE = new URL("./naive.ts", import.meta.url);

/** Opens a database that `lifecycle` closes. */
export async function open(lifecycle: Lifecycle, uri: string): Promise<Database> {
  const database = await connectDatabase(uri);
  lifecycle.onClose("MongoDB", () => database.close());
  return database;
}

/** The environment of `npm run web` and `npm run worker`. */
const PRODUCTION_ENV = {
  MALLOC_ARENA_MAX: "2",
  NODE_COMPILE_CACHE: fileURLToPath(new URL("../node_modules/.cache/compiled", import.meta.url)),
};

async function start<Ready>(
  lifecycle: Lifecycle,
  name: string,
  file: URL,
  env: Record<string, string>,
  execArgv: readonly string[] = [],
) {
  const began = performance.now();
  const child = await startChild<Ready>(file, { ...PRODUCTION_ENV, ...env }, execArgv);
  lifecycle.onClose(name, child.stop);
  const { process, stop, ready, nextMessage } = child;
  return { process, stop, ready, nextMessage, readyAfterMs: performance.now() - began };
}
