import { resolve } from "node:path";
import type { Config } from "../../../shared/config/schema/config.ts";
import type { Lifecycle } from "../../../shared/lifecycle.ts";
import type { RedisAddress } from "../../../shared/queue/redisAddress.ts";
import { Instance } from "../instance.ts";
import { supervise } from "../supervised.ts";
import { embeddedMongod } from "./mongod.ts";
import { embeddedRedis } from "./redis.ts";

export interface Servers {
  readonly mongodbUri: string;
  readonly redisUrl: string;
  /** The data directory, when something embedded uses it. */
  readonly instance: Instance | undefined;
}

/**
 * MongoDB and Redis, both ready: the configured ones, and embedded ones in the place of those that are not configured.
 * @throws StartError when one cannot be used or started
 */
export async function startServers(config: Config, lifecycle: Lifecycle): Promise<Servers> {
  const { uri } = config.mongodb;
  const { url, cluster } = config.redis;
  let instance: Instance | undefined;
  if (!uri || !url) {
    instance = await Instance.claim(resolve(config.dataDir));
    lifecycle.onClose("data directory", async () => instance?.release());
    const missing = [!uri && "MongoDB", !url && "Redis"].filter(Boolean);
    console.log(`Starting ${missing.join(" and ")} …`);
  }
  const mongod = uri ? undefined : await embeddedMongod(instance as Instance);
  const mongodb = mongod && supervise({ name: "MongoDB", launch: mongod.launch }, lifecycle);
  const server = url ? undefined : await embeddedRedis(instance as Instance);
  const redis = server && supervise({ name: "Redis", launch: server.launch }, lifecycle);
  await Promise.all([mongodb?.start(), redis?.start(), url && checkRedis({ url, cluster })]);
  return { mongodbUri: uri ?? mongod?.uri ?? "", redisUrl: url ?? server?.url ?? "", instance };
}

/** Asked here, because web and worker would both tell that it is not. */
async function checkRedis(address: RedisAddress): Promise<void> {
  const { createLogger } = await import("../../../shared/logger.ts");
  const { connectProducer } = await import("../../../shared/queue/redis.ts");
  const connection = await connectProducer(address, createLogger({ level: "silent", name: "start", pretty: false }));
  connection.disconnect();
}
