import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { StartError } from "../../../shared/process/lifecycle.ts";
import type { DataDirectoryLock } from "../dataDirectoryLock.ts";
import { prepareLog } from "./log.ts";
import { freePort } from "./port.ts";
import { programPath } from "./program.ts";
import { type Server, spawnServer, waitForPort } from "./server.ts";

const READY_WITHIN_MS = 20_000;
export const REDIS_STOPS_WITHIN_MS = 5_000;

export interface Redis {
  readonly url: string;
  launch(signal: AbortSignal): Promise<Server>;
}

/**
 * Prepares a redis-server without persistence, because its data can be restored from MongoDB. Its password is new at each
 * start and stored in a file that only this user can read.
 * @throws StartError if there is no redis-server program
 */
export async function embeddedRedis(lock: DataDirectoryLock): Promise<Redis> {
  const { dataDir } = lock;
  const binary = await programPath("redis-server", dataDir);
  const port = await freePort();
  const password = randomBytes(24).toString("base64url");
  const logPath = join(dataDir, "redis.log");
  const configPath = join(dataDir, "redis.conf");
  const config = [
    "bind 127.0.0.1",
    `port ${port}`,
    `requirepass ${password}`,
    'save ""',
    "appendonly no",
    "maxmemory-policy noeviction",
    `dir ${JSON.stringify(dataDir)}`,
    `logfile ${JSON.stringify(logPath)}`,
    "loglevel warning",
  ];
  writeFileSync(configPath, `${config.join("\n")}\n`, { mode: 0o600 });

  const launch = async (signal: AbortSignal): Promise<Server> => {
    prepareLog(logPath);
    const server = spawnServer(binary, [configPath], REDIS_STOPS_WITHIN_MS);
    lock.addChild(server.pid);
    if (await waitForPort(port, server, READY_WITHIN_MS, signal)) return server;
    await server.stop();
    throw new StartError(`Redis did not start (${await server.exited}): see ${logPath}.`);
  };
  return { url: `redis://:${password}@127.0.0.1:${port}`, launch };
}
