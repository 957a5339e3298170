import { randomUUID } from "node:crypto";
import { Queue } from "bullmq";
import { expect } from "chai";
import { Redis } from "ioredis";
import { pino } from "pino";
import { systemClock } from "../../../src/shared/clock.ts";
import { QUEUES, type QueueDef, queuePrefix, retention } from "../../../src/shared/queue/definitions.ts";
import { type Processor, runWorkers } from "../../../src/workers/runWorkers.ts";
import { eventually } from "../../support/eventually.ts";
import { countAlive } from "../../support/garbage.ts";
import { redisUrl } from "../../support/servers/servers.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";

const JOBS = 50;

describe("runWorkers", () => {
  it("frees the signal of a job that has ended, even when a listener was left on it", async () => {
    const prefix = `test-${randomUUID()}`;
    const connection = new Redis(await redisUrl(), { maxRetriesPerRequest: null });
    const queue = new Queue(retention.name, { connection, prefix: queuePrefix(prefix, retention.name) });
    const signals: WeakRef<AbortSignal>[] = [];
    const processor: Processor = async (_, { signal }) => {
      signal.addEventListener("abort", () => {}); // as OpenAI's client leaves one
      signals.push(new WeakRef(signal));
      return { kind: "done" };
    };
    const processors = new Map(QUEUES.map((def): [QueueDef, Processor] => [def, processor]));
    const workers = runWorkers(processors, {
      connection,
      prefix,
      clock: systemClock,
      timings: FAST_TIMINGS,
      log: pino({ level: "silent" }),
    });
    await queue.addBulk(Array.from({ length: JOBS }, () => ({ name: retention.name, data: {} })));
    await eventually(() => signals.length === JOBS, "all jobs to be done");

    const alive = await countAlive(signals);
    await workers.close();
    await queue.close();
    connection.disconnect();

    expect(alive).to.be.at.most(1); // that of the last job, if it has not ended
  });
});
