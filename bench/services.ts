import { Redis } from "ioredis";
import type { mongo } from "mongoose";
import { connectDatabase, type Database } from "../src/models/database.ts";
import type { RunDoc } from "../src/models/run.ts";
import type { Lifecycle } from "../src/shared/lifecycle.ts";
import { mongoUri, redisUrl } from "../test/support/servers.ts";
import { type Child, startChild } from "./child.ts";
import { type HookConfig, writeHookConfig } from "./hooks.ts";

/** One of the programs that are compared. */
export interface Service {
  readonly name: string;
  readonly url: string;
  /** Takes away what its hooks have written down, and what waits on any queue. */
  clear(): Promise<void>;
}

export interface Ours extends Service {
  readonly config: HookConfig;
  readonly runs: mongo.Collection<RunDoc>;
  readonly web: Web;
  /** Where BullMQ's queues are. */
  readonly redis: string;
  /** One more API on the same database. */
  startWeb(env?: Record<string, string>): Promise<Web>;
  /** Nothing carries out runs before. */
  startWorker(): Promise<Started>;
}

/** A program of ours that has begun to work. */
export interface Started extends Pick<Child<unknown>, "process" | "stop"> {
  /** Milliseconds from its start until it was ready. */
  readonly readyAfterMs: number;
}

export interface Web extends Service, Started {}

/**
 * Starts a mongod and a redis-server of the bench's own, then ours and the naive service, each a process with a database
 * of its own. `lifecycle` closes all of them.
 */
export async function startServices(
  lifecycle: Lifecycle,
  transformTimeoutSeconds: number,
): Promise<[ours: Ours, naive: Service]> {
  const [ours, naive, redis] = await Promise.all([mongoUri("bench-ours"), mongoUri("bench-naive"), redisUrl()]);
  const [oursDatabase, naiveDatabase] = await Promise.all([open(lifecycle, ours), open(lifecycle, naive)]);
  await oursDatabase.createIndexes();
  const queues = new Redis(redis);
  lifecycle.onClose("Redis", async () => queues.disconnect());
  const clear = async ({ collections: { runs, events } }: Database) => {
    await Promise.all([runs.deleteMany({}), events.deleteMany({})]);
    await queues.flushall();
  };

  const config = writeHookConfig(transformTimeoutSeconds);
  lifecycle.onClose("configuration", config.remove);
  const env = { MONGODB_URI: ours, REDIS_URL: redis, SIGNALBOX_CONFIG: config.path, LOG_LEVEL: "warn" };
  const startWeb = (more: Record<string, string> = {}) => startApi(lifecycle, { ...env, ...more });
  const [web, naiveReady] = await Promise.all([
    startWeb(),
    start<{ url: string }>(lifecycle, "naive", NAIVE, { MONGODB_URI: naive, REDIS_URL: redis }),
  ]);
  return [
    {
      name: "signalbox",
      ...{ url: web.url, runs: oursDatabase.collections.runs, config, web, redis, startWeb },
      clear: () => clear(oursDatabase),
      startWorker: () => start(lifecycle, "worker", WORKER, env),
    },
    { name: "naive", url: naiveReady.ready.url, clear: () => clear(naiveDatabase) },
  ];
}

/** Two of ours: each an API on an empty database of its own, whose collections are for the caller to fill. */
export async function startPair(lifecycle: Lifecycle): Promise<{ web: Web; database: Database }[]> {
  const redis = await redisUrl();
  return Promise.all(
    ["bench-empty", "bench-full"].map(async (name, i) => {
      const uri = await mongoUri(name);
      const database = await open(lifecycle, uri);
      await database.createIndexes();
      const web = await startApi(lifecycle, { MONGODB_URI: uri, REDIS_URL: `${redis}/${i}`, LOG_LEVEL: "warn" });
      return { web, database };
    }),
  );
}

async function startApi(lifecycle: Lifecycle, env: Record<string, string>): Promise<Web> {
  const more = { PORT: "0", HOST: "127.0.0.1", WEB_CONCURRENCY: "1" };
  const { ready, ...started } = await start<{ url: string }>(lifecycle, "signalbox", API, { ...more, ...env });
  return { ...started, name: "signalbox", url: ready.url, clear: async () => {} };
}

const API = new URL("../src/api/main.ts", import.meta.url);
const WORKER = new URL("../src/workers/main.ts", import.meta.url);
const NAIVE = new URL("./naive.ts", import.meta.url);

async function open(lifecycle: Lifecycle, uri: string): Promise<Database> {
  const database = await connectDatabase(uri);
  lifecycle.onClose("MongoDB", () => database.close());
  return database;
}

async function start<Ready>(lifecycle: Lifecycle, name: string, file: URL, env: Record<string, string>) {
  const began = performance.now();
  const child = await startChild<Ready>(file, env);
  lifecycle.onClose(name, child.stop);
  const { process, stop, ready } = child;
  return { process, stop, ready, readyAfterMs: performance.now() - began };
}
