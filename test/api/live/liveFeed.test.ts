import { once } from "node:events";
import { expect } from "chai";
import pino from "pino";
import type { EventStream } from "../../../src/api/live/eventStream.ts";
import { LiveFeed, type LiveFeedDeps } from "../../../src/api/live/liveFeed.ts";
import type { Stores } from "../../../src/models/stores.ts";
import { readChanges } from "../../../src/shared/queue/changeReader.ts";
import { connectProducer, readerConnection } from "../../../src/shared/queue/redis.ts";
import { eventually } from "../../support/eventually.ts";
import { redisUrl } from "../../support/servers/servers.ts";
import { useSharedApp } from "../../support/useApp.ts";

const ALL = { topics: new Set(["jobs"] as const), filter: {} };

describe("LiveFeed", () => {
  const app = useSharedApp();

  const log = pino({ level: "silent" });
  const idsOf = (some: string) => [...some.matchAll(/^id: (.+)$/gm)].map(([, id]) => id as string);

  /** Opens a stream and collects its text. */
  const listen = (feed: LiveFeed, lastEventId?: string) => {
    const received = { text: "" };
    const stream: EventStream = feed.open(ALL, lastEventId).on("data", (some) => {
      received.text += some;
    });
    return { received, closed: () => once(stream, "close") };
  };

  /** Starts a feed of the app's changes. */
  const startFeed = async (stores: Stores, deps: Pick<LiveFeedDeps, "redis"> & Partial<LiveFeedDeps>) => {
    const feed = new LiveFeed(stores, { clock: app.clock, log, prefix: app.prefix, heartbeatMs: 15_000, ...deps });
    const reading = readChanges(readerConnection({ url: await redisUrl() }, log), app.prefix, [feed]);
    const close = async () => {
      feed.close();
      await reading.close();
    };
    return { feed, close };
  };

  /** Returns a proxy of an object that replaces some of its members. */
  const withOverride = <T extends object>(whole: T, instead: (name: string, bound: unknown) => unknown): T =>
    new Proxy(whole, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target);
        return instead(String(name), typeof value === "function" ? value.bind(target) : value);
      },
    });

  it("sends no position beyond changes that a client has yet to receive, while MongoDB is unavailable", async () => {
    const redis = await connectProducer({ url: await redisUrl() }, log);
    let isAway = true;
    const jobs = withOverride(app.stores.jobs, (name, value) => {
      if (name === "collection" && isAway) throw new Error("MongoDB is away");
      return value;
    });
    const stores: Stores = { ...app.stores, jobs };
    const { feed, close } = await startFeed(stores, { redis, heartbeatMs: 20 });
    const { received, closed } = listen(feed);
    await eventually(() => /"live":true}\nid: /.test(received.text), "the feed to be live");
    const heartbeats = () => received.text.split("\n").filter((line) => line === ":").length;
    const before = idsOf(received.text).at(-1);

    await app.call("PUT", "/api/jobs/told-late", {});
    await eventually(
      async () => (await redis.xlen(`${app.prefix}:changes`)) > 0,
      "the change to be published in Redis",
    );
    const had = heartbeats();
    await eventually(() => heartbeats() > had + 20, "heartbeats");
    const beforeChange = received.text;
    isAway = false;
    await eventually(() => received.text.includes("told-late"), "the change to be sent");
    await eventually(() => idsOf(received.text).at(-1) !== before, "the position after it");

    expect(beforeChange).to.not.include("told-late");
    expect(new Set(idsOf(beforeChange))).to.deep.equal(new Set([before]));
    feed.end();
    await closed();
    await close();
    redis.disconnect();
  });

  it("ends the stream of a job token at a heartbeat when the deletion of its job was not named", async () => {
    const redis = await connectProducer({ url: await redisUrl() }, log);
    const { feed, close } = await startFeed(app.stores, { redis, heartbeatMs: 20 });
    await app.stores.jobs.put("unnamed", {});
    const scope = { jobId: "unnamed", internalId: (await app.stores.jobs.findId("unnamed")).toHexString() };
    const stream = feed.open({ ...ALL, filter: { scope: [scope] } }, undefined).on("data", () => {});
    const closed = once(stream, "close");

    await app.stores.jobs.collection.native.deleteOne({ jobId: "unnamed" });

    await closed;
    await close();
    redis.disconnect();
  });

  it("sends a resuming client no position beyond changes that arrived while it caught up", async () => {
    const redis = await connectProducer({ url: await redisUrl() }, log);
    let release = () => {};
    const blocked = new Promise<void>((resolve) => {
      release = resolve;
    });
    const slow = withOverride(redis, (name, value) =>
      name === "xrange"
        ? async (...args: unknown[]) => {
            const found = await (value as typeof redis.xrange)(...(args as Parameters<typeof redis.xrange>));
            await blocked;
            return found;
          }
        : value,
    );
    const { feed, close } = await startFeed(app.stores, { redis: slow });
    const first = listen(feed);
    await eventually(() => idsOf(first.received.text).length > 0, "the feed to be live");
    await app.call("PUT", "/api/jobs/missed", {});
    await eventually(() => first.received.text.includes("missed"), "the change to be sent");

    const second = listen(feed, idsOf(first.received.text)[0]);
    await app.call("PUT", "/api/jobs/meanwhile", {});
    await eventually(() => first.received.text.includes("meanwhile"), "the changes that arrive meanwhile");
    release();
    await eventually(() => second.received.text.includes("meanwhile"), "all changes to be sent");

    const [missed = "", meanwhile] = second.received.text.split("meanwhile");
    expect(missed).to.include("missed");
    expect(idsOf(missed)).to.not.include(idsOf(meanwhile ?? "").at(-1));
    feed.end();
    await Promise.all([first.closed(), second.closed()]);
    await close();
    redis.disconnect();
  });

  it("lets other work run between subscribers when sending takes long", async () => {
    const redis = await connectProducer({ url: await redisUrl() }, log);
    const { feed, close } = await startFeed(app.stores, { redis });
    const first = listen(feed);
    await eventually(() => idsOf(first.received.text).length > 0, "the feed to be live");
    const inOrder: string[] = [];
    for (const name of ["one", "two", "three"]) {
      const stream = feed.open(ALL, undefined);
      stream.send = () => {
        setImmediate(() => inOrder.push(`work after ${name}`));
        const began = performance.now();
        while (performance.now() - began < 2);
        inOrder.push(name);
      };
    }

    await app.call("PUT", "/api/jobs/told-to-many", {});
    await eventually(() => inOrder.includes("work after three"), "all changes to be sent");

    expect(inOrder.slice(0, 6)).to.deep.equal([
      ...["one", "work after one"],
      ...["two", "work after two"],
      ...["three", "work after three"],
    ]);
    feed.end();
    await first.closed();
    await close();
    redis.disconnect();
  });

  it("reads the changes of many pages of single jobs with two queries", async () => {
    const redis = await connectProducer({ url: await redisUrl() }, log);
    const jobIds = Array.from({ length: 50 }, (_, i) => `page-${i}`);
    for (const jobId of jobIds) await app.call("PUT", `/api/jobs/${jobId}`, {});
    let queries = 0;
    const collection = withOverride(app.stores.jobs.collection, (name, value) => {
      if (name === "find" || name === "aggregate" || name === "findOne") queries++;
      return value;
    });
    const jobs = withOverride(app.stores.jobs, (name, value) => (name === "collection" ? collection : value));
    const { feed, close } = await startFeed({ ...app.stores, jobs }, { redis });
    const received = new Map(jobIds.map((jobId) => [jobId, ""]));
    const streams = jobIds.map((jobId) =>
      feed
        .open({ scope: undefined, jobId }, undefined)
        .on("data", (some) => received.set(jobId, received.get(jobId) + some)),
    );
    await eventually(() => [...received.values()].every((text) => idsOf(text).length > 0), "the feed to be live");

    const report = { stepName: "Work", status: "running", progress: 10, jobProgressStart: 0, jobProgressEnd: 100 };
    await Promise.all(jobIds.map((jobId) => app.call("PUT", `/api/jobs/${jobId}/steps/work`, report)));
    await eventually(
      () => jobIds.every((jobId) => /event: step\n.*"progress":10/.test(received.get(jobId) ?? "")),
      "each page to receive its step",
    );

    const batches = new Set([...received.values()].flatMap(idsOf));
    expect(queries).to.be.at.most(2 * batches.size);
    expect(queries).to.be.below(jobIds.length);
    feed.end();
    await Promise.all(streams.map((stream) => stream.destroyed || once(stream, "close")));
    await close();
    redis.disconnect();
  });
});
