import type { Queues } from "../shared/enqueue.ts";
import type { Logger } from "../shared/logger.ts";
import { retention } from "../shared/queues.ts";

/** How often retention runs. */
const RETENTION_EVERY_MS = 60_000;

/**
 * Keeps the schedules that live in Redis there: says them again at an interval, from a timer of this process, since a
 * Redis that was emptied has lost them.
 */
export function keepSchedules(queues: Queues, log: Logger, sayEveryMs = 60_000): { close(): Promise<void> } {
  let saying = Promise.resolve();
  const say = () => {
    saying = queues.repeat(retention, RETENTION_EVERY_MS).catch((error: unknown) => {
      log.debug({ err: error }, "the schedules could not be said; trying again");
    });
  };
  say();
  const timer = setInterval(say, sayEveryMs);
  return {
    async close() {
      clearInterval(timer);
      await saying;
    },
  };
}
