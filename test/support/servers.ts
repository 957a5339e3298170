import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { type AddressInfo, createConnection, createServer } from "node:net";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { MongoMemoryReplSet } from "mongodb-memory-server";
import { eventually } from "./eventually.ts";

const bin = (name: string) => resolve(".tools/bin", name);

/** The test run's own mongod, a replica set of one; started by the first who asks. */
let mongod: Promise<MongoMemoryReplSet> | undefined;

export async function mongoUri(database: string): Promise<string> {
  process.env.MONGOMS_SYSTEM_BINARY_VERSION_CHECK = "false"; // whichever the set-up has found serves
  mongod ??= MongoMemoryReplSet.create({
    replSet: { count: 1 },
    binary: { systemBinary: bin("mongod") },
    instanceOpts: [{ storageEngine: "wiredTiger" }],
  });
  return (await mongod).getUri(database);
}

export interface RedisServer {
  readonly url: string;
  readonly port: number;
  stop(signal?: NodeJS.Signals): Promise<void>;
}

/** A redis-server of its own, empty and without a disk. `port` takes up one that was stopped. */
export async function startRedis(port?: number): Promise<RedisServer> {
  const at = port ?? (await freePort());
  const dir = mkdtempSync(join(tmpdir(), "signalbox-redis-"));
  const args = ["--port", String(at), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", dir];
  const child = spawn(bin("redis-server"), [...args, "--maxmemory-policy", "noeviction"], { stdio: "ignore" });
  await eventually(() => canConnect(at), "redis-server to listen");
  return { port: at, url: `redis://127.0.0.1:${at}`, stop: (signal) => stopRedis(child, dir, signal) };
}

async function stopRedis(child: ChildProcess, dir: string, signal: NodeJS.Signals = "SIGTERM"): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) {
    const gone = once(child, "exit");
    child.kill(signal);
    await gone;
  }
  rmSync(dir, { recursive: true, force: true });
}

/** The test run's own redis-server; started by the first who asks. */
let redis: Promise<RedisServer> | undefined;

export async function redisUrl(): Promise<string> {
  redis ??= startRedis();
  return (await redis).url;
}

export async function stopServers(): Promise<void> {
  await (await mongod)?.stop();
  await (await redis)?.stop();
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
