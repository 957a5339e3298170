import { expect } from "chai";
import { Redis } from "ioredis";
import { agentHook, heartbeat } from "../../../src/shared/queue/definitions.ts";
import { Queues } from "../../../src/shared/queue/producer.ts";
import { startApp } from "../../support/app.ts";
import { withMachineClock } from "../../support/machineClock.ts";
import { redisUrl } from "../../support/servers/servers.ts";
import { useApp, useSharedApp } from "../../support/useApp.ts";

const TWO_HOURS_MS = 2 * 3_600_000;

describe("Queues: entries of a process whose machine has the wrong time", () => {
  const app = useSharedApp();
  const queueOf = (name: string) => app.queues.all.find((queue) => queue.name === name);

  it("wait for their delay by the shared clock", async () => {
    const rightly = { now: () => new Date(Date.now() - TWO_HOURS_MS) };
    const connection = new Redis(await redisUrl());
    const queues = new Queues(connection, app.prefix, rightly);

    await withMachineClock(TWO_HOURS_MS, () =>
      queues.deliver({ deliveryId: "one", channel: "log" }, { delayMs: 60_000 }),
    );
    const [entry] = (await queueOf("delivery-log")?.getDelayed()) ?? [];
    await queues.close();
    connection.disconnect();

    expect(Number(entry?.timestamp) - Date.now()).to.be.within(-TWO_HOURS_MS / 2, TWO_HOURS_MS / 2);
  });

  it("are corrected by the next process that sets the schedule", async () => {
    const every = { everyMs: 60_000, immediately: false };
    const schedule = () => app.queues.schedule(heartbeat, { scheduled: true }, every);
    const nextIn = async () => Number((await queueOf("heartbeat")?.getJobScheduler("heartbeat"))?.next) - Date.now();
    await withMachineClock(TWO_HOURS_MS, schedule);
    const wrong = await nextIn();

    await schedule();

    expect(wrong).to.be.above(TWO_HOURS_MS / 2);
    expect(await nextIn()).to.be.below(3 * every.everyMs);
    expect(await queueOf("heartbeat")?.getDelayedCount()).to.equal(1);
  });
});

describe("Queues: a schedule", () => {
  it("is not postponed when two processes keep setting different intervals", async () => {
    const app = await startApp();
    const queue = app.queues.all.find(({ name }) => name === heartbeat.name);
    const schedule = (everyMs: number) =>
      app.queues.schedule(heartbeat, { scheduled: true }, { everyMs, immediately: false });
    const next = async () => (await queue?.getJobScheduler(heartbeat.name))?.next;
    await schedule(3_600_000);
    const first = await next();

    for (const everyMs of [7_200_000, 3_600_000, 7_200_000]) await schedule(everyMs);

    expect(first).to.be.a("number");
    expect(await next()).to.equal(first);
    expect(await queue?.getDelayedCount()).to.equal(1);
    await app.close();
  });
});

describe("Queues: runs that are added", () => {
  const app = useApp();
  const add = (queues: Queues, runId: string, priority?: number) =>
    queues.add(agentHook, { runId }, { jobId: runId, ...(priority !== undefined && { priority }) });

  it("become one entry each, with their ids and priorities", async () => {
    const queue = app.queues.all.find(({ name }) => name === agentHook.name);

    await Promise.all([add(app.queues, "a"), add(app.queues, "b", 2), add(app.queues, "c", 1), add(app.queues, "a")]);
    await add(app.queues, "b");

    const entries = [...((await queue?.getWaiting()) ?? []), ...((await queue?.getPrioritized()) ?? [])];
    expect(entries.map(({ id, data, opts }) => [id, data.runId, opts.priority ?? 0])).to.deep.equal([
      ["a", "a", 0],
      ["c", "c", 1],
      ["b", "b", 2],
    ]);
  });

  it("do not delay the caller while Redis is down", async () => {
    const connection = new Redis({ port: 1, lazyConnect: true, retryStrategy: () => null, maxRetriesPerRequest: 0 });
    connection.on("error", () => {});
    const queues = new Queues(connection, app.prefix);

    const added = await Promise.all([add(queues, "a"), add(queues, "b")]);
    connection.disconnect();
    await queues.close();

    expect(added).to.deep.equal([undefined, undefined]);
  });
});
