import { Redis } from "ioredis";
import { StartError } from "./lifecycle.ts";
import type { Logger } from "./logger.ts";

/**
 * A connection whose commands fail at once while Redis is away, for producers and probes.
 * Every connection says once in the log that it is lost and once that it is back.
 */
export function producerConnection(url: string, log: Logger): Redis {
  return watched(
    new Redis(url, {
      enableOfflineQueue: false,
      commandTimeout: 2_000,
      connectTimeout: 2_000,
      maxRetriesPerRequest: 0,
      lazyConnect: true,
      retryStrategy,
    }),
    log,
  );
}

/** A connection for one command that waits for news, and fails when Redis goes away. It connects by itself. */
export function readerConnection(url: string, log: Logger): Redis {
  return watched(
    new Redis(url, { connectTimeout: 2_000, enableOfflineQueue: false, maxRetriesPerRequest: 0, retryStrategy }),
    log,
  );
}

/**
 * A connection that waits for Redis to come back, for workers. It connects by itself: what BullMQ makes of a lazy one
 * never begins to work when Redis goes away in the middle of its first connect.
 */
export function workerConnection(url: string, log: Logger): Redis {
  return watched(new Redis(url, { connectTimeout: 2_000, maxRetriesPerRequest: null, retryStrategy }), log);
}

/** Connects. @throws StartError when Redis does not answer */
export async function connectRedis(redis: Redis): Promise<Redis> {
  try {
    await redis.connect();
    await redis.ping();
    return redis;
  } catch (error) {
    redis.disconnect();
    const { host, port } = redis.options;
    const reason = /NOAUTH|WRONGPASS/.test((error as Error).message) ? " (it wants a password)" : "";
    throw new StartError(
      `Redis at ${host}:${port} cannot be used${reason}: start it, or correct REDIS_URL (redis.url in the configuration).`,
    );
  }
}

const retryStrategy = (tries: number): number => Math.min(50 * 2 ** tries, 2_000);

function watched(redis: Redis, log: Logger): Redis {
  let lost = false;
  redis.on("error", (error: NodeJS.ErrnoException) => {
    if (!lost) log.warn({ code: error.code }, "Redis cannot be reached; trying again");
    lost = true;
  });
  redis.on("ready", () => {
    if (lost) log.info("Redis is back");
    lost = false;
  });
  return redis;
}
