import type { Config } from "../config/config.ts";
import { requireServers } from "../config/load.ts";
import type { Clock } from "../shared/clock.ts";
import type { Logger } from "../shared/logger.ts";
import type { Lifecycle } from "../shared/process/lifecycle.ts";
import { connectProducer, type RedisConnection } from "../shared/queue/redis.ts";
import type { RedisAddress } from "../shared/queue/redisAddress.ts";
import type { Timings } from "../shared/timings.ts";
import { connectDatabase, type Database } from "./database.ts";

interface Servers {
  readonly database: Database;
  readonly clock: Clock;
  /** A producer's connection. */
  readonly redis: RedisConnection;
  readonly redisAddress: RedisAddress;
}

/**
 * Connects a process to MongoDB and Redis until its end.
 * @throws StartError when a server cannot be reached, or `npm run release` has not prepared the database
 */
export async function connectServers(
  config: Config,
  lifecycle: Lifecycle,
  { log, timings }: { readonly log: Logger; readonly timings: Timings },
): Promise<Servers> {
  const { mongodbUri, redisAddress } = requireServers(config);
  const database = await connectDatabase(mongodbUri);
  lifecycle.onClose("MongoDB", () => database.close());
  await database.checkPrepared();
  const redis = await connectProducer(redisAddress, log, timings);
  lifecycle.onClose("Redis", async () => redis.disconnect());
  return { database, clock: database.clock, redis, redisAddress };
}
