import type { Queues } from "../shared/enqueue.ts";
import type { Logger } from "../shared/logger.ts";
import { retention } from "../shared/queues.ts";

const EVERY_MS = 60_000;

/**
 * Keeps the schedules that live in Redis there: says them anew each minute from a timer of this process, since a
 * Redis that was emptied has lost them.
 */
export function keepSchedules(queues: Queues, log: Logger): { close(): Promise<void> } {
  let saying = Promise.resolve();
  const say = () => {
    saying = queues.repeat(retention, EVERY_MS).catch((error: unknown) => {
      log.debug({ err: error }, "the schedules could not be said; trying again");
    });
  };
  say();
  const timer = setInterval(say, EVERY_MS);
  return {
    async close() {
      clearInterval(timer);
      await saying;
    },
  };
}
