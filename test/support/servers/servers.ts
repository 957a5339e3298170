import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { MongoMemoryReplSet } from "mongodb-memory-server";
import { mongo } from "mongoose";
import { eventually } from "../eventually.ts";

/** Returns the path of a server that the setup has installed. */
export const bin = (name: string) => resolve(".tools/bin", name);

/**
 * The servers that all tests share. The command that runs the tests in several processes starts them and passes their
 * addresses in the environment; otherwise the first caller starts them.
 */
export const SHARED = { mongodb: "SIGNALBOX_TEST_MONGODB", redis: "SIGNALBOX_TEST_REDIS" } as const;

/** The mongod of this process, a replica set with one member. */
let mongod: Promise<MongoMemoryReplSet> | undefined;

/** Returns the URI of a database on the shared mongod, or on the one of the running suite. */
export async function mongoUri(database: string): Promise<string> {
  const shared = process.env[SHARED.mongodb];
  if (mongod === undefined && shared !== undefined) {
    const url = new URL(shared);
    url.pathname = `/${database}`;
    return url.href;
  }
  mongod ??= createReplicaSet(1);
  return (await mongod).getUri(database);
}

/**
 * Gives the calling suite a mongod of its own, for tests that change the behaviour of the whole server. Call it before
 * the suite's own hooks.
 * @param useMore declares hooks that need the mongod until they have run, such as those of a shared app; hooks that are declared
 *   later run after the mongod has stopped
 * @returns what `useMore` returns
 */
export function useOwnMongod<T = void>(useMore: () => T = () => undefined as T): T {
  let usual: typeof mongod;
  before(async () => {
    usual = mongod;
    mongod = createReplicaSet(1);
    await mongod;
  });
  const used = useMore();
  after(async () => {
    await (await mongod)?.stop(REMOVE);
    mongod = usual;
  });
  return used;
}

/** Also removes the data. */
const REMOVE = { doCleanup: true, force: true };

/** Minimum free memory file system space, which a test run may need. */
const MIN_FREE_BYTES = 4 * 1024 ** 3;

const MEMORY = "/dev/shm";
let isOnDisk = false;

/** Makes servers that start later keep their data on disk, to measure the real cost of writes. */
export function keepDataOnDisk(): void {
  isOnDisk = true;
}

/** Creates a data directory in memory, if the system has enough of it: test data need not be durable. */
function fastDirectory(): string | undefined {
  if (isOnDisk || !existsSync(MEMORY)) return undefined;
  removeStale();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > MIN_FREE_BYTES ? mkdtempSync(join(MEMORY, `signalbox-${process.pid}-`)) : undefined;
}

/** Removes the memory directories of killed processes. */
function removeStale(): void {
  for (const name of readdirSync(MEMORY)) {
    const pid = Number(/^signalbox-(\d+)-/.exec(name)?.[1] ?? process.pid);
    if (pid !== process.pid && !isAlive(pid)) rmSync(join(MEMORY, name), { recursive: true, force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

/** Maximum start time: after a crash a mongod first recovers its journal. */
const LISTENS_WITHIN_MS = 120_000;
/** Maximum characters of a server's output to keep for the error when it does not start. */
const OUTPUT_CHARS = 4_000;

/** Disables the socket file, which a killed mongod would leave behind, and the diagnostics that mongod records each second. */
const MONGOD_OPTIONS = ["--nounixsocket", "--setParameter", "diagnosticDataCollectionEnabled=false"];

/** A server of a test, which may stop, kill and restart it. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** The pid of the latest process. */
  readonly pid: number;
  /** Stops the process and keeps its data. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Sends a signal to the process, for example to freeze it. */
  signal(signal: NodeJS.Signals): void;
  /** Restarts it on the same port with the same data. */
  start(): Promise<void>;
  /** Stops it and removes its data. */
  remove(): Promise<void>;
}

/** Starts a redis-server without persistence: it is empty after a restart. @param more additional options */
export function startRedis(more: readonly string[] = [], port?: number): Promise<TestServer> {
  const options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"];
  const args = (port: string, dir: string) => ["--port", port, "--dir", dir, ...options, ...more];
  return startServer("redis-server", args, "redis:", port);
}

/** Starts a standalone mongod, or a member of a replica set with `--replSet` in the arguments. */
export function startMongod(args: readonly string[] = []): Promise<TestServer> {
  const options = ["--bind_ip", "127.0.0.1", ...MONGOD_OPTIONS, ...args];
  return startServer("mongod", (port, dir) => ["--port", port, "--dbpath", dir, ...options], "mongodb:");
}

/** A replica set of a test. */
export interface ReplicaSet {
  readonly url: string;
  /** Kills the primary; it is not restarted. */
  killPrimary(): Promise<void>;
  remove(): Promise<void>;
}

export async function startReplicaSet(count: number): Promise<ReplicaSet> {
  const set = await createReplicaSet(count);
  return {
    url: set.getUri("x"),
    async killPrimary() {
      const client = await mongo.MongoClient.connect(set.getUri());
      const { primary } = await client.db("admin").command({ hello: 1 });
      await client.close();
      const server = set.servers.find(({ instanceInfo }) => String(primary).endsWith(`:${instanceInfo?.port}`));
      const child = server?.instanceInfo?.instance.mongodProcess;
      if (!child) throw new Error(`${primary} is no process of this set`);
      const gone = once(child, "exit");
      child.kill("SIGKILL");
      await gone;
    },
    remove: async () => void (await set.stop(REMOVE)),
  };
}

/** Creates a data directory in memory if possible; the caller removes it. */
function createReplicaSet(count: number): Promise<MongoMemoryReplSet> {
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = "false"; // Any version that the setup has found is accepted.
  return MongoMemoryReplSet.create({
    replSet: {
      count,
      args: ["--setParameter", "enableTestCommands=1", ...MONGOD_OPTIONS],
      configSettings: { electionTimeoutMillis: 2_000, chainingAllowed: false }, // Each secondary replicates from the primary.
    },
    binary: { systemBinary: bin("mongod") },
    instanceOpts: Array.from({ length: count }, () => {
      const dbPath = fastDirectory();
      const options = { storageEngine: "wiredTiger" as const, launchTimeout: LISTENS_WITHIN_MS };
      return { ...options, ...(dbPath !== undefined && { dbPath }) };
    }),
  });
}

async function startServer(
  name: string,
  argsFor: (port: string, dir: string) => string[],
  protocol: string,
  port?: number,
): Promise<TestServer> {
  port ??= await freePort();
  const dir = fastDirectory() ?? mkdtempSync(join(tmpdir(), `signalbox-${name}-`));
  let child: ChildProcess;
  const start = async () => {
    // Lets a write beyond the file size limit fail, instead of killing the process.
    const command = ["-c", 'trap "" XFSZ; exec "$0" "$@"', bin(name), ...argsFor(String(port), dir)];
    child = spawn("/bin/sh", command, { stdio: ["ignore", "pipe", "ignore"] });
    let output = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      output = (output + chunk).slice(-OUTPUT_CHARS);
    });
    const listens = () => {
      const how = child.exitCode ?? child.signalCode;
      if (how !== null) throw new Error(`${name} ended with ${how} before it listened: ${output}`);
      return canConnect(port);
    };
    await eventually(listens, `${name} to listen`, LISTENS_WITHIN_MS);
  };
  const stop = async (signal: NodeJS.Signals = "SIGTERM") => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  };
  const signal = (name: NodeJS.Signals) => void child.kill(name);
  const remove = async () => {
    await stop("SIGKILL");
    rmSync(dir, { recursive: true, force: true });
  };
  await start();
  return {
    url: `${protocol}//127.0.0.1:${port}`,
    port,
    start,
    stop,
    signal,
    remove,
    get pid() {
      return child.pid ?? 0;
    },
  };
}

/** The redis-server that this process has started. */
let redis: Promise<TestServer> | undefined;

/** Returns the URL of the redis-server that all tests share: each test uses a prefix of its own. */
export async function redisUrl(): Promise<string> {
  const shared = process.env[SHARED.redis];
  if (shared !== undefined) return shared;
  redis ??= startRedis();
  return (await redis).url;
}

export async function stopServers(): Promise<void> {
  await (await mongod)?.stop(REMOVE);
  await (await redis)?.remove();
}

/**
 * Ports of test servers. They are below the ephemeral range, so that a server finds its port free when it restarts.
 * Each test process takes ports from a range of its own in sequence, so that no two processes take the same one.
 */
const FIRST_PORT = 10_000;
const PORTS_EACH = 2_000;
const RANGES = 11;
const firstOfRange = FIRST_PORT + (Number(process.env.MOCHA_WORKER_ID ?? 0) % RANGES) * PORTS_EACH;
let portsTaken = process.pid % PORTS_EACH;

export async function freePort(): Promise<number> {
  for (;;) {
    const port = firstOfRange + (portsTaken++ % PORTS_EACH);
    if (await isFree(port)) return port;
  }
}

export async function isFree(port: number): Promise<boolean> {
  const server = createServer().listen(port, "127.0.0.1");
  const isFree = await once(server, "listening").then(
    () => true,
    () => false,
  );
  if (isFree) await new Promise((closed) => server.close(closed));
  return isFree;
}

export async function canConnect(port: number): Promise<boolean> {
  const socket = createConnection(port, "127.0.0.1");
  try {
    await once(socket, "connect");
    return true;
  } catch {
    return false;
  } finally {
    socket.destroy();
  }
}
