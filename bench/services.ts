import { Redis } from "ioredis";
import type { mongo } from "mongoose";
import { connectDatabase, type Database } from "../src/models/database.ts";
import type { RunDoc } from "../src/models/run.ts";
import type { Lifecycle } from "../src/shared/lifecycle.ts";
import { mongoUri, redisUrl, stopServers } from "../test/support/servers.ts";
import { startChild } from "./child.ts";
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
  /** Nothing carries out runs before. */
  startWorker(): Promise<void>;
}

/**
 * Starts a mongod and a redis-server of the bench's own, then ours and the naive service, each a process with a database
 * of its own. `lifecycle` closes all of them.
 */
export async function startServices(
  lifecycle: Lifecycle,
  transformTimeoutSeconds: number,
): Promise<[ours: Ours, naive: Service]> {
  lifecycle.onClose("servers", stopServers);
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
  const web = { ...env, PORT: "0", HOST: "127.0.0.1", WEB_CONCURRENCY: "1" };
  const [oursReady, naiveReady] = await Promise.all([
    start<{ url: string }>(lifecycle, "signalbox", API, web),
    start<{ url: string }>(lifecycle, "naive", NAIVE, { MONGODB_URI: naive, REDIS_URL: redis }),
  ]);
  return [
    {
      name: "signalbox",
      url: oursReady.url,
      runs: oursDatabase.collections.runs,
      config,
      clear: () => clear(oursDatabase),
      startWorker: async () => void (await start(lifecycle, "worker", WORKER, env)),
    },
    { name: "naive", url: naiveReady.url, clear: () => clear(naiveDatabase) },
  ];
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
  const child = await startChild<Ready>(file, env);
  lifecycle.onClose(name, child.stop);
  return child.ready;
}
