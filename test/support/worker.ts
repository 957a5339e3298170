import { RedisChangeStream } from "../../src/shared/queue/changeStream.ts";
import { readerConnection, workerConnection } from "../../src/shared/queue/redis.ts";
import type { Timings } from "../../src/shared/timings.ts";
import { WorkerMetrics } from "../../src/workers/metrics.ts";
import { startService } from "../../src/workers/service.ts";
import type { TestApp } from "./app.ts";
import { logLines } from "./logLines.ts";
import { FAST_TIMINGS } from "./timings.ts";

export interface TestWorker {
  readonly metrics: WorkerMetrics;
  /** Its log, one object per line. */
  readonly log: Record<string, unknown>[];
  close(): Promise<void>;
}

/** Starts a real worker on the database and queues of a test's app. */
export async function startWorker(
  app: TestApp,
  env: Record<string, string> = {},
  timings: Timings = FAST_TIMINGS,
): Promise<TestWorker> {
  const { log, lines } = logLines();
  const connection = workerConnection({ url: app.redisUrl }, log);
  const { stores, queues, clock } = app;
  const config = { ...app.config, redis: { ...app.config.redis, prefix: app.prefix } };
  const metrics = new WorkerMetrics();
  const changes = new RedisChangeStream(app.redis, app.prefix);
  const service = startService(config, {
    stores,
    queues,
    connection,
    openReader: () => readerConnection({ url: app.redisUrl }, log, timings),
    runEvents: { redis: app.redis, prefix: app.prefix, changes },
    clock,
    log,
    metrics,
    timings,
    env: { ...process.env, ...env },
  });
  return {
    metrics,
    log: lines,
    async close() {
      await service.close();
      await changes.flush();
      connection.disconnect();
    },
  };
}
