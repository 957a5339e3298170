import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { MongoMemoryReplSet } from "mongodb-memory-server";
import { mongo } from "mongoose";
import { eventually } from "./eventually.ts";

const bin = (name: string) => resolve(".tools/bin", name);

/** The test run's own mongod, a replica set of one; started by the first who asks. */
let mongod: Promise<MongoMemoryReplSet> | undefined;

export async function mongoUri(database: string): Promise<string> {
  mongod ??= createReplicaSet(1);
  return (await mongod).getUri(database);
}

/** A server of a test's own that it may stop, kill, and start again where it was. */
export interface TestServer {
  readonly url: string;
  /** Ends the process and keeps its data. */
  stop(signal?: NodeJS.Signals): Promise<void>;
  /** Has the process freeze, say. */
  signal(signal: NodeJS.Signals): void;
  /** Starts it again on the same port, over the same data. */
  start(): Promise<void>;
  /** Ends it and takes its data away. */
  remove(): Promise<void>;
}

/** A redis-server that keeps nothing on disk: started again it is empty. */
export function startRedis(): Promise<TestServer> {
  const options = ["--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--maxmemory-policy", "noeviction"];
  return startServer("redis-server", (port, dir) => ["--port", port, "--dir", dir, ...options], "redis:");
}

/** A mongod that stands alone. */
export function startMongod(): Promise<TestServer> {
  return startServer("mongod", (port, dir) => ["--port", port, "--dbpath", dir, "--bind_ip", "127.0.0.1"], "mongodb:");
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
    remove: async () => void (await set.stop()),
  };
}

function createReplicaSet(count: number): Promise<MongoMemoryReplSet> {
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = "false"; // whichever the set-up has found serves
  return MongoMemoryReplSet.create({
    replSet: { count },
    binary: { systemBinary: bin("mongod") },
    instanceOpts: Array.from({ length: count }, () => ({ storageEngine: "wiredTiger" as const })),
  });
}

async function startServer(
  name: string,
  argsFor: (port: string, dir: string) => string[],
  protocol: string,
): Promise<TestServer> {
  const port = await freePort();
  const dir = mkdtempSync(join(tmpdir(), `signalbox-${name}-`));
  let child: ChildProcess;
  const start = async () => {
    child = spawn(bin(name), argsFor(String(port), dir), { stdio: "ignore" });
    await eventually(() => canConnect(port), `${name} to listen`);
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
  return { url: `${protocol}//127.0.0.1:${port}`, start, stop, signal, remove };
}

/** The test run's own redis-server; started by the first who asks. */
let redis: Promise<TestServer> | undefined;

export async function redisUrl(): Promise<string> {
  redis ??= startRedis();
  return (await redis).url;
}

export async function stopServers(): Promise<void> {
  await (await mongod)?.stop();
  await (await redis)?.remove();
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  await new Promise((closed) => server.close(closed));
  return port;
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
