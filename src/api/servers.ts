import type { Database } from "../models/database.ts";
import type { Queues } from "../shared/queue/producer.ts";
import { type RedisConnection, readServerFacts } from "../shared/queue/redis.ts";
import { withTimeout } from "../shared/timeouts.ts";

/** Facts about the servers of an installation; null for what is not available. */
export interface ServerFacts {
  /** The version of MongoDB. */
  readonly mongodb: string | null;
  /** The version of Redis. */
  readonly redis: string | null;
  /** The number of connected worker processes. */
  readonly workers: number | null;
}

const READ_TIMEOUT_MS = 3_000;

/** Reads the versions of the servers and the number of workers. Never rejects. */
export async function readServers(database: Database, redis: RedisConnection, queues: Queues): Promise<ServerFacts> {
  const [mongodb, redisVersion, workers] = await Promise.all([
    orNull(database.readFacts().then(({ version }) => version)),
    orNull(readServerFacts(redis).then(({ version }) => version)),
    orNull(queues.countWorkers()),
  ]);
  return { mongodb, redis: redisVersion, workers };
}

const orNull = <T>(value: Promise<T | null | undefined>): Promise<T | null> =>
  withTimeout(value, READ_TIMEOUT_MS, "server").then(
    (one) => one ?? null,
    () => null,
  );
