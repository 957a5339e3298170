import { execFile, execFileSync } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { mongo } from "mongoose";
import { heapOptions } from "../src/cli/start/heapOptions.ts";
import type { Lifecycle } from "../src/shared/process/lifecycle.ts";
import { startProcess } from "../test/support/process.ts";
import { startMongod, startRedis, startReplicaSet } from "../test/support/servers/servers.ts";
import { HOOK_TOKEN, type Kind } from "./works.ts";

/** A process of the bench. */
export interface Process {
  /** The URL of a service. */
  readonly url: string;
  send(message: object): void;
  /** @throws Error when the process exits first */
  nextMessage(): Promise<unknown>;
  /** Returns the resident memory of the process. */
  residentMiB(): number;
}

/** A service under test. */
export interface Service {
  readonly name: string;
  readonly url: string;
  readonly web: Process;
  readonly database: mongo.Db;
  /** Deletes the records of its hooks, and all queues. */
  clear(): Promise<void>;
}

export interface Signalbox extends Service {
  /** Starts a worker; without it no run is executed. */
  startWorker(): Promise<Process>;
}

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const KIB_OF_MIB = 1_024;

/** The environment of `npm run web` and `npm run worker`. */
const PRODUCTION_ENV = {
  MALLOC_ARENA_MAX: "2",
  NODE_COMPILE_CACHE: join(ROOT, "node_modules", ".cache", "compiled"),
  WEB_CONCURRENCY: "1",
  LOG_LEVEL: "warn",
};

/** The configuration of the compared services: hooks, and a runner that answers at once. */
const CONFIG = { hooks: { enabled: true, token: HOOK_TOKEN }, agents: { defaults: { runner: "echo" } } };

/**
 * Starts Signalbox and the plain service, or another clone of Signalbox instead. Each has a database and a Redis of its own, on
 * one MongoDB of the kind. `lifecycle` stops all of them.
 * @param beside the root of the other clone
 */
export async function startPair(
  lifecycle: Lifecycle,
  kind: Kind,
  beside?: string,
): Promise<[ours: Signalbox, other: Service]> {
  const mongodb = await startMongo(lifecycle, kind);
  return Promise.all([
    startSignalbox(lifecycle, mongodb("ours"), ROOT),
    beside === undefined
      ? startPlain(lifecycle, mongodb("other"))
      : startSignalbox(lifecycle, mongodb("other"), beside),
  ]);
}

/** Starts MongoDB and returns the URI of each of its databases. */
async function startMongo(lifecycle: Lifecycle, kind: Kind): Promise<(database: string) => string> {
  const server = kind === "single" ? await startMongod() : await startReplicaSet(1);
  lifecycle.onClose("MongoDB", () => server.remove());
  return (database) => Object.assign(new URL(server.url), { pathname: `/${database}` }).href;
}

/** Prepares the database with `release`, and starts a web process of a clone. */
async function startSignalbox(lifecycle: Lifecycle, mongodb: string, root: string): Promise<Signalbox> {
  const records = await openRecords(lifecycle, mongodb);
  const env = {
    ...PRODUCTION_ENV,
    MONGODB_URI: mongodb,
    REDIS_URL: records.redis,
    SIGNALBOX_CONFIG_JSON: JSON.stringify(CONFIG),
  };
  await promisify(execFile)(process.execPath, [join(root, "src/cli/main.ts"), "release"], {
    cwd: tmpdir(),
    env: { ...process.env, ...env },
  });
  const start = (file: string) => startChild(lifecycle, pathToFileURL(join(root, file)), env, heapOptions({}));
  const web = await start("src/api/main.ts");
  const startWorker = () => start("src/workers/main.ts");
  return { name: root === ROOT ? "signalbox" : basename(root), url: web.url, web, startWorker, ...records };
}

async function startPlain(lifecycle: Lifecycle, mongodb: string): Promise<Service> {
  const records = await openRecords(lifecycle, mongodb);
  const env = { ...PRODUCTION_ENV, MONGODB_URI: mongodb, REDIS_URL: records.redis };
  const web = await startChild(lifecycle, new URL("./naive.ts", import.meta.url), env);
  return { name: "plain", url: web.url, web, ...records };
}

/** Starts a Redis, and connects to it and to the database. */
async function openRecords(lifecycle: Lifecycle, mongodb: string) {
  const { url: redis, remove } = await startRedis();
  lifecycle.onClose("Redis", remove);
  const queues = new Redis(redis);
  lifecycle.onClose("Redis", async () => queues.disconnect());
  const client = await mongo.MongoClient.connect(mongodb);
  lifecycle.onClose("MongoDB", () => client.close());
  const database = client.db();
  const clear = async () => {
    await Promise.all(["runs", "events"].map((name) => database.collection(name).deleteMany({})));
    await queues.flushdb();
  };
  return { redis, database, clear };
}

/**
 * Starts a file as a process that `lifecycle` stops. It runs in the temporary directory, so that no configuration file of the
 * current directory changes the measurement.
 * @param execArgv options of Node
 * @throws Error when it exits before it is ready
 */
export async function startChild(
  lifecycle: Lifecycle,
  file: URL,
  env: Readonly<Record<string, string>> = {},
  execArgv: readonly string[] = [],
): Promise<Process> {
  const { child, ready, ended, stop } = startProcess(fileURLToPath(file), { ...env }, [], { execArgv, cwd: tmpdir() });
  lifecycle.onClose(file.pathname, () => stop());
  const { url } = await ready;
  const failed = ended.then((how) => Promise.reject(new Error(`${file.pathname} ended with ${how}`)));
  failed.catch(() => {}); // Callers that wait for a message get the error.
  return {
    url,
    send: (message) => void child.send(message),
    nextMessage: () => Promise.race([once(child, "message").then(([message]) => message), failed]),
    residentMiB: () =>
      Number(execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" })) / KIB_OF_MIB,
  };
}
