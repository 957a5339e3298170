import { type ChildProcess, execFile, execFileSync, fork } from "node:child_process";
import { once } from "node:events";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { Redis } from "ioredis";
import { mongo } from "mongoose";
import { heapOptions } from "../src/cli/start/heapOptions.ts";
import type { Lifecycle } from "../src/shared/process/lifecycle.ts";
import { startMongod, startRedis, startReplicaSet } from "../test/support/servers/servers.ts";
import { HOOK_TOKEN, type Kind } from "./works.ts";

/** A process of the bench. It is ready when it has sent its first message, `{ ready: … }`. */
export interface Process<Ready = unknown> {
  readonly process: ChildProcess;
  readonly ready: Ready;
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
const STOP_TIMEOUT_MS = 10_000;
const KIB_OF_MIB = 1_024;

/** The environment of `npm run web` and `npm run worker`. */
const PRODUCTION_ENV = {
  MALLOC_ARENA_MAX: "2",
  NODE_COMPILE_CACHE: join(ROOT, "node_modules", ".cache", "compiled"),
  ...{ PORT: "0", HOST: "127.0.0.1", WEB_CONCURRENCY: "1", LOG_LEVEL: "warn" },
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
    startSignalbox(lifecycle, { mongodb: mongodb("ours"), config: CONFIG }),
    beside === undefined
      ? startPlain(lifecycle, mongodb("plain"))
      : startSignalbox(lifecycle, { mongodb: mongodb("other"), config: CONFIG, root: beside }),
  ]);
}

/** Starts MongoDB and returns the URI of each of its databases. */
export async function startMongo(lifecycle: Lifecycle, kind: Kind): Promise<(database: string) => string> {
  const server = kind === "single" ? await startMongod() : await startReplicaSet(1);
  lifecycle.onClose("MongoDB", () => server.remove());
  return (database) => Object.assign(new URL(server.url), { pathname: `/${database}` }).href;
}

/**
 * Prepares the database with `release`, and starts a web process.
 * @param root the clone that is started, by default this one
 * @param execArgv further options of Node for web and workers
 */
export async function startSignalbox(
  lifecycle: Lifecycle,
  {
    mongodb,
    config,
    root = ROOT,
    execArgv = [],
  }: {
    mongodb: string;
    config: object;
    root?: string;
    execArgv?: readonly string[];
  },
): Promise<Signalbox> {
  const records = await openRecords(lifecycle, mongodb);
  const env = {
    ...PRODUCTION_ENV,
    MONGODB_URI: mongodb,
    REDIS_URL: records.redis,
    SIGNALBOX_CONFIG_JSON: JSON.stringify(config),
  };
  await promisify(execFile)(process.execPath, [join(root, "src/cli/main.ts"), "release"], {
    cwd: tmpdir(),
    env: { ...process.env, ...env },
  });
  const start = (file: string) =>
    startProcess<{ url: string }>(lifecycle, pathToFileURL(join(root, file)), env, [...heapOptions({}), ...execArgv]);
  const web = await start("src/api/main.ts");
  const startWorker = () => start("src/workers/main.ts");
  return { name: root === ROOT ? "signalbox" : root, url: web.ready.url, web, startWorker, ...records };
}

async function startPlain(lifecycle: Lifecycle, mongodb: string): Promise<Service> {
  const records = await openRecords(lifecycle, mongodb);
  const env = { ...PRODUCTION_ENV, MONGODB_URI: mongodb, REDIS_URL: records.redis };
  const web = await startProcess<{ url: string }>(lifecycle, new URL("./naive.ts", import.meta.url), env);
  return { name: "plain", url: web.ready.url, web, ...records };
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
 * Runs a file as a process that `lifecycle` stops. It runs in the temporary directory, so that no configuration file of the
 * current directory changes the measurement.
 * @param execArgv options of Node
 * @throws Error when it exits before it is ready
 */
export async function startProcess<Ready>(
  lifecycle: Lifecycle,
  file: URL,
  env: Readonly<Record<string, string>> = {},
  execArgv: readonly string[] = [],
): Promise<Process<Ready>> {
  const { SIGNALBOX_CONFIG: _, ...inherited } = process.env;
  const options = { cwd: tmpdir(), env: { ...inherited, ...env }, execArgv: [...execArgv], silent: true };
  const child = fork(file, options);
  lifecycle.onClose(file.pathname, () => stop(child));
  for (const output of [child.stdout, child.stderr]) output?.pipe(process.stderr);
  const nextMessage = () => messageOf(child, file.pathname);
  const { ready } = (await nextMessage()) as { ready: Ready };
  const residentMiB = () =>
    Number(execFileSync("ps", ["-o", "rss=", "-p", String(child.pid)], { encoding: "utf8" })) / KIB_OF_MIB;
  return { process: child, ready, nextMessage, residentMiB };
}

async function messageOf(child: ChildProcess, name: string): Promise<unknown> {
  const answered = new AbortController();
  const { signal } = answered;
  const ended = once(child, "exit", { signal }).then(([code, by]) => {
    throw new Error(`${name} ended (${by ?? `exit code ${code}`})`);
  });
  try {
    return await Promise.race([once(child, "message", { signal }).then(([message]) => message), ended]);
  } finally {
    answered.abort();
    await ended.catch(() => {});
  }
}

async function stop(child: ChildProcess): Promise<void> {
  // Ctrl-C also ends the servers, and the process would log that it lost them.
  for (const output of [child.stdout, child.stderr]) output?.unpipe().resume();
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_TIMEOUT_MS);
  await gone;
  clearTimeout(timer);
}
