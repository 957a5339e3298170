import type { Logger } from "../shared/logger.ts";
import { heartbeat, retention } from "../shared/queue/definitions.ts";
import type { Queues } from "../shared/queue/producer.ts";
import { logFailure } from "./periodic.ts";

/** How often retention runs. */
const RETENTION_EVERY_MS = 60_000;

/**
 * Stores the schedules of retention and of the heartbeat in Redis, now and again at each interval, because a Redis that was
 * emptied has lost them.
 * @param heartbeatEveryMs null for no heartbeats, which also removes their former schedule
 */
export function startSchedules(
  queues: Pick<Queues, "schedule" | "unschedule">,
  log: Logger,
  { heartbeatEveryMs, renewEveryMs }: { heartbeatEveryMs: number | null; renewEveryMs: number },
): { close(): Promise<void> } {
  let renewing = Promise.resolve();
  const renew = () => {
    const schedules = [
      queues.schedule(retention, {}, { everyMs: RETENTION_EVERY_MS, immediately: true }),
      heartbeatEveryMs === null
        ? queues.unschedule(heartbeat)
        : queues.schedule(heartbeat, { scheduled: true }, { everyMs: heartbeatEveryMs, immediately: false }),
    ];
    renewing = Promise.all(schedules).then(
      () => {},
      (error: unknown) => void logFailure({ log }, "storing of the schedules in Redis", error),
    );
  };
  renew();
  const timer = setInterval(renew, renewEveryMs);
  return {
    async close() {
      clearInterval(timer);
      await renewing;
    },
  };
}
