import { connectDatabase } from "../src/models/database.ts";
import type { Lifecycle } from "../src/shared/lifecycle.ts";
import { mongoUri, redisUrl, stopServers } from "../test/support/servers.ts";
import { startChild } from "./child.ts";

/** One of the programs that are compared. */
export interface Service {
  readonly name: string;
  readonly url: string;
}

/**
 * Starts a mongod and a redis-server of the bench's own, then ours and the naive service, each a process with a database
 * of its own. `lifecycle` closes all of them.
 */
export async function startServices(lifecycle: Lifecycle): Promise<[ours: Service, naive: Service]> {
  lifecycle.onClose("servers", stopServers);
  const [ours, naive, redis] = await Promise.all([mongoUri("bench-ours"), mongoUri("bench-naive"), redisUrl()]);
  const database = await connectDatabase(ours);
  await database.createIndexes().finally(() => database.close());
  const web = { MONGODB_URI: ours, REDIS_URL: redis, PORT: "0", HOST: "127.0.0.1", WEB_CONCURRENCY: "1" };
  return Promise.all([
    start(lifecycle, "signalbox", new URL("../src/api/main.ts", import.meta.url), { ...web, LOG_LEVEL: "warn" }),
    start(lifecycle, "naive", new URL("./naive.ts", import.meta.url), { MONGODB_URI: naive }),
  ]);
}

async function start(lifecycle: Lifecycle, name: string, file: URL, env: Record<string, string>): Promise<Service> {
  const child = await startChild<{ url: string }>(file, env);
  lifecycle.onClose(name, child.stop);
  return { name, url: child.ready.url };
}
