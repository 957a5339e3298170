import { once } from "node:events";
import { expect } from "chai";
import pino from "pino";
import type { EventStream } from "../../../src/api/live/eventStream.ts";
import { LiveFeed } from "../../../src/api/live/liveFeed.ts";
import type { Stores } from "../../../src/models/stores.ts";
import { connectProducer, readerConnection } from "../../../src/shared/queue/redis.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { redisUrl } from "../../support/servers.ts";

const ALL = { topics: new Set(["jobs"] as const), filter: {} };

describe("the feed of live events", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  const log = pino({ level: "silent" });
  const idsOf = (some: string) => [...some.matchAll(/^id: (.+)$/gm)].map(([, id]) => id);

  /** What a stream of the feed says. */
  const listen = (feed: LiveFeed, lastEventId?: string) => {
    const heard = { text: "" };
    const stream: EventStream = feed.open(ALL, lastEventId).on("data", (some) => {
      heard.text += some;
    });
    return { heard, closed: () => once(stream, "close") };
  };

  /** The same, but for what is done in place of one of its members. */
  const but = <T extends object>(whole: T, instead: (name: string, bound: unknown) => unknown): T =>
    new Proxy(whole, {
      get: (target, name) => {
        const value = Reflect.get(target, name, target);
        return instead(String(name), typeof value === "function" ? value.bind(target) : value);
      },
    });

  it("tells nobody to resume behind what he has still to be told, such as while MongoDB is away", async () => {
    const redis = await connectProducer({ url: await redisUrl() }, log);
    let isAway = true;
    const jobs = but(app.stores.jobs, (name, value) => {
      if (name === "collection" && isAway) throw new Error("MongoDB is away");
      return value;
    });
    const stores: Stores = { ...app.stores, jobs };
    const reader = readerConnection({ url: await redisUrl() }, log);
    const feed = new LiveFeed(stores, { clock: app.clock, log, prefix: app.prefix, redis, reader, beatMs: 20 });
    const { heard, closed } = listen(feed);
    await eventually(() => /"live":true}\nid: /.test(heard.text), "the feed to be live");
    const beats = () => heard.text.split("\n").filter((line) => line === ":").length;
    const before = idsOf(heard.text).at(-1);

    await app.call("PUT", "/api/jobs/told-late", {});
    await eventually(async () => (await redis.xlen(`${app.prefix}:changes`)) > 0, "the change to be told in Redis");
    const had = beats();
    await eventually(() => beats() > had + 20, "heart-beats");
    const untold = heard.text;
    isAway = false;
    await eventually(() => heard.text.includes("told-late"), "the change to be told");
    await eventually(() => idsOf(heard.text).at(-1) !== before, "the place behind it");

    expect(untold).to.not.include("told-late");
    expect(new Set(idsOf(untold))).to.deep.equal(new Set([before]));
    feed.end();
    await closed();
    await feed.close();
    redis.disconnect();
  });

  it("nor one who resumes, behind what came while he was told of what he had missed", async () => {
    const redis = await connectProducer({ url: await redisUrl() }, log);
    let goOn = () => {};
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    const slow = but(redis, (name, value) =>
      name === "xrange"
        ? async (...args: unknown[]) => {
            const found = await (value as typeof redis.xrange)(...(args as Parameters<typeof redis.xrange>));
            await held;
            return found;
          }
        : value,
    );
    const reader = readerConnection({ url: await redisUrl() }, log);
    const feed = new LiveFeed(app.stores, {
      clock: app.clock,
      log,
      prefix: app.prefix,
      redis: slow,
      reader,
      beatMs: 15_000,
    });
    const first = listen(feed);
    await eventually(() => idsOf(first.heard.text).length > 0, "the feed to be live");
    await app.call("PUT", "/api/jobs/missed", {});
    await eventually(() => first.heard.text.includes("missed"), "the change to be told");

    const second = listen(feed, idsOf(first.heard.text)[0]);
    await app.call("PUT", "/api/jobs/meanwhile", {});
    await eventually(() => first.heard.text.includes("meanwhile"), "what comes meanwhile");
    goOn();
    await eventually(() => second.heard.text.includes("meanwhile"), "all to be told");

    const [missed = "", meanwhile] = second.heard.text.split("meanwhile");
    expect(missed).to.include("missed");
    expect(idsOf(missed)).to.not.include(idsOf(meanwhile ?? "").at(-1));
    feed.end();
    await Promise.all([first.closed(), second.closed()]);
    await feed.close();
    redis.disconnect();
  });

  it("lets other work be done between the listeners that it tells, where that takes its time", async () => {
    const redis = await connectProducer({ url: await redisUrl() }, log);
    const reader = readerConnection({ url: await redisUrl() }, log);
    const feed = new LiveFeed(app.stores, { clock: app.clock, log, prefix: app.prefix, redis, reader, beatMs: 15_000 });
    const first = listen(feed);
    await eventually(() => idsOf(first.heard.text).length > 0, "the feed to be live");
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
    await eventually(() => inOrder.includes("work after three"), "all to be told");

    expect(inOrder.slice(0, 6)).to.deep.equal([
      ...["one", "work after one"],
      ...["two", "work after two"],
      ...["three", "work after three"],
    ]);
    feed.end();
    await first.closed();
    await feed.close();
    redis.disconnect();
  });
});
