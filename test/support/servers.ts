import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdtempSync, readdirSync, rmSync, statfsSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { MongoMemoryReplSet } from "mongodb-memory-server";
import { mongo } from "mongoose";
import { eventually } from "./eventually.ts";

/** Where the set-up has put a server. */
export const bin = (name: string) => resolve(".tools/bin", name);

/**
 * The servers that all tests share: started once by the command that runs them in several processes, which passes their
 * addresses on in the environment, or by the first who asks.
 */
export const SHARED = { mongodb: "SIGNALBOX_TEST_MONGODB", redis: "SIGNALBOX_TEST_REDIS" } as const;

/** The mongod of this process, a replica set of one. */
let mongod: Promise<MongoMemoryReplSet> | undefined;

/** The address of a database on the shared mongod, or on the one that the running file has for itself. */
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
 * Gives the tests of the calling suite a mongod of their own, for those that change how the whole server behaves. To be
 * called before the suite's own hooks.
 */
export function useOwnMongod(): void {
  let usual: typeof mongod;
  before(async () => {
    usual = mongod;
    mongod = createReplicaSet(1);
    await mongod;
  });
  after(async () => {
    await (await mongod)?.stop(REMOVE);
    mongod = usual;
  });
}

/** Takes the data away too, wherever it is. */
const REMOVE = { doCleanup: true, force: true };

/** Less than this, and a test run could fill the file system. */
const ROOM_BYTES = 4 * 1024 ** 3;

const MEMORY = "/dev/shm";
let isOnDisk = false;

/** Has servers that start from now on keep their data on disk, for whoever measures what a write costs. */
export function keepDataOnDisk(): void {
  isOnDisk = true;
}

/** A directory in memory where the system has one with room: what servers of tests keep need not outlive anything. */
function fastDirectory(): string | undefined {
  if (isOnDisk || !existsSync(MEMORY)) return undefined;
  removeStale();
  const { bavail, bsize } = statfsSync(MEMORY);
  return bavail * bsize > ROOM_BYTES ? mkdtempSync(join(MEMORY, `signalbox-${process.pid}-`)) : undefined;
}

/** Removes what processes left in memory that were killed. */
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

/** Long: after a crash a mongod first recovers what its journal holds. */
const LISTENS_WITHIN_MS = 120_000;
/** How much of what a server prints is kept, to say why it did not start. */
const SAID_CHARS = 4_000;

/** A mongod that is killed would leave it behind. */
const NO_SOCKET_FILE = ["--nounixsocket"];

/** A server of a test's own that it may stop, kill, and start again where it was. */
export interface TestServer {
  readonly url: string;
  readonly port: number;
  /** Of the process that was started last. */
  readonly pid: number;
  /** Ends the process and keeps its data. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Has the process freeze, say. */
  signal(signal: NodeJS.Signals): void;
  /** Starts it again on the same port, over the same data. */
  start(): Promise<void>;
  /** Ends it and takes its data away. */
  remove(): Promise<void>;
}

/** A redis-server that keeps nothing on disk: started again it is empty. @param more options, as it takes them */
export function startRedis(more: readonly string[] = [], port?: number): Promise<TestServer> {
  const options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"];
  const args = (port: string, dir: string) => ["--port", port, "--dir", dir, ...options, ...more];
  return startServer("redis-server", args, "redis:", port);
}

/** A mongod that stands alone, or with `--replSet` among the arguments a member of a replica set. */
export function startMongod(args: readonly string[] = []): Promise<TestServer> {
  const options = ["--bind_ip", "127.0.0.1", ...NO_SOCKET_FILE, ...args];
  return startServer("mongod", (port, dir) => ["--port", port, "--dbpath", dir, ...options], "mongodb:");
}

/** A replica set of a test's own. */
export interface ReplicaSet {
  readonly url: string;
  /** Ends the process of the primary at once; it does not come back. */
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

/** Its data are in a fast place, where there is one, and are to be removed when it stops. */
function createReplicaSet(count: number): Promise<MongoMemoryReplSet> {
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = "false"; // whichever the set-up has found serves
  return MongoMemoryReplSet.create({
    replSet: {
      count,
      args: ["--setParameter", "enableTestCommands=1", ...NO_SOCKET_FILE],
      configSettings: { electionTimeoutMillis: 2_000, chainingAllowed: false }, // each follows the primary itself
    },
    binary: { systemBinary: bin("mongod") },
    instanceOpts: Array.from({ length: count }, () => {
      const dbPath = fastDirectory();
      return { storageEngine: "wiredTiger" as const, ...(dbPath !== undefined && { dbPath }) };
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
    // Told by a failing write that a file may not grow, not killed for it.
    const command = ["-c", 'trap "" XFSZ; exec "$0" "$@"', bin(name), ...argsFor(String(port), dir)];
    child = spawn("/bin/sh", command, { stdio: ["ignore", "pipe", "ignore"] });
    let said = "";
    child.stdout?.setEncoding("utf8").on("data", (chunk: string) => {
      said = (said + chunk).slice(-SAID_CHARS);
    });
    const listens = () => {
      const how = child.exitCode ?? child.signalCode;
      if (how !== null) throw new Error(`${name} ended with ${how} before it listened: ${said}`);
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
    ...{ url: `${protocol}//127.0.0.1:${port}`, port, start, stop, signal, remove },
    get pid() {
      return child.pid ?? 0;
    },
  };
}

/** The redis-server of this process. */
let redis: Promise<TestServer> | undefined;

/** The address of the redis-server that all tests share: whoever uses it has a prefix of its own. */
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
 * Ports for servers of tests: below those that systems give to outgoing connections, so that a server which stops and
 * comes back finds its port free still. Each process that runs tests takes them from a range of its own, one after the other,
 * so that two never take the same.
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

async function canConnect(port: number): Promise<boolean> {
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
