import { randomUUID } from "node:crypto";
import { type Job, Queue } from "bullmq";
import { expect } from "chai";
import { Redis } from "ioredis";
import pino from "pino";
import { systemClock } from "../../src/shared/clock.ts";
import { AppError } from "../../src/shared/errors.ts";
import { QUEUES, type QueueDef, queuePrefix, retention } from "../../src/shared/queue/definitions.ts";
import { workerConnection } from "../../src/shared/queue/redis.ts";
import { type Processor, runWorkers } from "../../src/workers/runWorkers.ts";
import { eventually } from "../support/eventually.ts";
import { freeze } from "../support/freeze.ts";
import { redisUrl, startRedis } from "../support/servers/servers.ts";
import { FAST_TIMINGS } from "../support/timings.ts";

describe("runWorkers", () => {
  let connection: Redis;
  let queue: Queue;
  let prefix: string;
  let lines: Record<string, unknown>[];
  beforeEach(async () => {
    prefix = `test-${randomUUID()}`;
    lines = [];
    connection = new Redis(await redisUrl(), { maxRetriesPerRequest: null });
    queue = new Queue(retention.name, { connection, prefix: queuePrefix(prefix, retention.name) });
  });
  afterEach(async () => {
    await queue.close();
    connection.disconnect();
  });
  const start = (processor: Processor) => {
    const log = pino({ level: "trace" }, { write: (line: string) => void lines.push(JSON.parse(line)) });
    const idle = QUEUES.map((def): [QueueDef, Processor] => [def, async () => ({ kind: "done" })]);
    return runWorkers(new Map([...idle, [retention, processor]]), {
      connection,
      prefix,
      clock: systemClock,
      timings: FAST_TIMINGS,
      log,
    });
  };
  /** Resolves with the job once it has ended. It polls, because queue events from before the subscription are lost. */
  const ended = (job: Job): Promise<Job> =>
    eventually(async () => {
      const now = await queue.getJob(String(job.id));
      return now?.finishedOn !== undefined && now;
    }, "the job to end");
  const outcomes: [string, Processor, object, { attempts: number; failed?: string }][] = [
    ["completes a job that is done", async () => ({ kind: "done", result: { deleted: 3 } }), {}, { attempts: 1 }],
    [
      "retries a job whose outcome is retry",
      async () => ({ kind: "retry", error: new AppError("unavailable", { detail: "later" }) }),
      {},
      { attempts: 3, failed: "later" },
    ],
    [
      "fails a job whose outcome is discard",
      async () => ({ kind: "discard", error: new AppError("job_not_found") }),
      {},
      { attempts: 1, failed: "job_not_found: The job does not exist." },
    ],
    [
      "decides by the catalogue of errors when a processor throws",
      async () => Promise.reject(new AppError("job_not_found")),
      {},
      { attempts: 1, failed: "job_not_found: The job does not exist." },
    ],
    [
      "retries a job whose processor throws anything else",
      async () => Promise.reject("odd"),
      {},
      { attempts: 3, failed: "The service had an internal error." },
    ],
  ];
  for (const [title, processor, payload, expected] of outcomes) {
    it(title, async () => {
      const workers = start(processor);

      const job = await queue.add("x", payload, { attempts: 3 });
      const { attemptsMade, failedReason } = await ended(job);
      await workers.close();

      expect({ attempts: attemptsMade, failed: failedReason }).to.deep.equal({ failed: undefined, ...expected });
    });
  }

  it("passes to the processor whether a try of a job is the last", async () => {
    const tries: boolean[] = [];
    const workers = start(async ({ lastTry }) => {
      tries.push(lastTry);
      return { kind: "retry", error: new AppError("unavailable") };
    });

    await ended(await queue.add("x", {}, { attempts: 3 }));
    await ended(await queue.add("x", {}));
    await workers.close();

    expect(tries).to.deep.equal([false, false, true, true]);
  });

  it("discards a payload that does not match its schema, without logging it", async () => {
    let called = false;
    const workers = start(async () => {
      called = true;
      return { kind: "done" };
    });

    const job = await queue.add("x", "secret payload" as never, { attempts: 3 });
    const { failedReason } = await ended(job);
    await workers.close(0);

    expect(called).to.equal(false);
    expect(failedReason).to.match(/^internal: The payload does not match its schema/);
    expect(JSON.stringify(lines)).to.not.include("secret payload");
  });

  it("aborts active jobs when it is closed, and waits for them", async () => {
    let begun = () => {};
    const running = new Promise<void>((resolve) => {
      begun = resolve;
    });
    let finished = false;
    const workers = start(async (_job, { signal }) => {
      begun();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      finished = true;
      return { kind: "done" };
    });
    await queue.add("x", {});
    await running;

    await workers.close(0);

    expect(finished).to.equal(true);
  });

  it("refuses to start without a processor for each queue", () => {
    expect(() =>
      runWorkers(new Map(), {
        connection,
        prefix,
        clock: systemClock,
        timings: FAST_TIMINGS,
        log: pino({ level: "silent" }),
      }),
    ).to.throw("the queue mapped-hook has no processor");
  });

  it("starts working after Redis was down in the middle of its start", async () => {
    const redis = await startRedis();
    const log = pino({ level: "silent" });
    const own = workerConnection(redis, log);
    await own.ping();
    await freeze(redis.pid); // what connects now is not answered
    let seen: (def: QueueDef) => void = () => {};
    const worked = new Promise<QueueDef>((resolve) => {
      seen = resolve;
    });
    const processor =
      (def: QueueDef): Processor =>
      async () => {
        seen(def);
        return { kind: "done" };
      };
    const processors = new Map(QUEUES.map((def) => [def, processor(def)]));
    const workers = runWorkers(processors, { connection: own, prefix, clock: systemClock, timings: FAST_TIMINGS, log });

    await redis.stop("SIGKILL");
    await redis.start();
    const producer = new Queue(retention.name, { connection: own, prefix: queuePrefix(prefix, retention.name) });
    await producer.add(retention.name, {});

    expect(await worked).to.equal(retention);
    await workers.close();
    await producer.close();
    own.disconnect();
    await redis.remove();
  });

  it("starts no job after close was called, and leaves it in its queue", async () => {
    let started = 0;
    const workers = start(async () => {
      started += 1;
      return { kind: "done" };
    });
    await ended(await queue.add("x", {}));
    started = 0;

    const adding = Array.from({ length: 20 }, () => queue.add("x", {}));
    const closing = workers.close();
    const jobs = await Promise.all(adding);
    await closing;

    expect(started).to.equal(0);
    const states = await Promise.all(jobs.map((job) => job.getState()));
    expect(new Set(states)).to.have.property("size").that.is.at.most(2);
    for (const state of states) expect(state).to.be.oneOf(["waiting", "delayed"]);
  });
});
