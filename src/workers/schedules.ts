import type { Logger } from "../shared/logger.ts";
import { heartbeat, retention } from "../shared/queue/definitions.ts";
import type { Queues } from "../shared/queue/producer.ts";

/** How often retention runs. */
const RETENTION_EVERY_MS = 60_000;

/**
 * Keeps the schedules that live in Redis there: says them again at an interval, from a timer of this process, since a
 * Redis that was emptied has lost them.
 */
export function startSchedules(
  queues: Queues,
  log: Logger,
  { heartbeatEveryMs, renewEveryMs }: { heartbeatEveryMs: number; renewEveryMs: number },
): { close(): Promise<void> } {
  let saying = Promise.resolve();
  const say = () => {
    const both = [
      queues.repeat(retention, {}, { everyMs: RETENTION_EVERY_MS, atOnce: true }),
      queues.repeat(heartbeat, { scheduled: true }, { everyMs: heartbeatEveryMs, atOnce: false }),
    ];
    saying = Promise.all(both).then(
      () => {},
      (error: unknown) => log.debug({ err: error }, "the schedules could not be said; trying again"),
    );
  };
  say();
  const timer = setInterval(say, renewEveryMs);
  return {
    async close() {
      clearInterval(timer);
      await saying;
    },
  };
}
