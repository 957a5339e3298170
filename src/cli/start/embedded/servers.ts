import { resolve } from "node:path";
import type { Config } from "../../../config/config.ts";
import { redisAddress } from "../../../config/load.ts";
import type { Lifecycle } from "../../../shared/process/lifecycle.ts";
import type { RedisAddress } from "../../../shared/queue/redisAddress.ts";
import { DataDirectoryLock } from "../dataDirectoryLock.ts";
import { supervise } from "../supervised.ts";
import { embeddedMongod } from "./mongod.ts";
import { embeddedRedis } from "./redis.ts";

export interface Servers {
  readonly mongodbUri: string;
  readonly redisUrl: string;
  /** The lock on the data directory, if an embedded server uses it. */
  readonly lock: DataDirectoryLock | undefined;
}

/**
 * Connects to the configured MongoDB and Redis, and starts an embedded server for each that is not configured.
 * @throws StartError if one cannot be used or started
 */
export async function startServers(config: Config, lifecycle: Lifecycle): Promise<Servers> {
  const { uri } = config.mongodb;
  const { url } = config.redis;
  const address = redisAddress(config.redis);
  let lock: DataDirectoryLock | undefined;
  if (!uri || !url) {
    lock = await DataDirectoryLock.acquire(resolve(config.dataDir));
    lifecycle.onClose("data directory", async () => lock?.release());
    const missing = [!uri && "MongoDB", !url && "Redis"].filter(Boolean);
    console.log(`Starting ${missing.join(" and ")} …`);
  }
  const mongod = uri ? undefined : await embeddedMongod(lock as DataDirectoryLock);
  const mongodb = mongod && supervise({ name: "MongoDB", launch: mongod.launch }, lifecycle);
  const server = url ? undefined : await embeddedRedis(lock as DataDirectoryLock);
  const redis = server && supervise({ name: "Redis", launch: server.launch }, lifecycle);
  await Promise.all([mongodb?.start(), redis?.start(), address && checkRedis(address)]);
  return { mongodbUri: uri ?? mongod?.uri ?? "", redisUrl: url ?? server?.url ?? "", lock };
}

/** Starts the embedded MongoDB alone, for a command. @returns its URI @throws StartError if it cannot be started */
export async function startMongod(lock: DataDirectoryLock, lifecycle: Lifecycle): Promise<string> {
  lifecycle.onClose("data directory", async () => lock.release());
  const { launch, uri } = await embeddedMongod(lock);
  await supervise({ name: "MongoDB", launch }, lifecycle).start();
  return uri;
}

/** Checks Redis here, because otherwise web and worker would both report the same problem. */
async function checkRedis(address: RedisAddress): Promise<void> {
  const { createLogger } = await import("../../../shared/logger.ts");
  const { connectProducer } = await import("../../../shared/queue/redis.ts");
  const connection = await connectProducer(address, createLogger({ level: "silent", name: "start", pretty: false }));
  connection.disconnect();
}
