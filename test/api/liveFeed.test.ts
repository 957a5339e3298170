import { once } from "node:events";
import { expect } from "chai";
import pino from "pino";
import type { EventStream } from "../../src/api/live/eventStream.ts";
import { LiveFeed } from "../../src/api/live/liveFeed.ts";
import type { Stores } from "../../src/models/stores.ts";
import { connectProducer, readerConnection } from "../../src/shared/redis.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { redisUrl } from "../support/servers.ts";

const ALL = { topics: new Set(["jobs"] as const), filter: {} };

describe("the feed of live events", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());

  it("tells nobody to resume behind what he has still to be told, such as while MongoDB is away", async () => {
    const log = pino({ level: "silent" });
    const redis = await connectProducer({ url: await redisUrl() }, log);
    let isAway = true;
    const jobs = new Proxy(app.stores.jobs, {
      get: (target, name) => {
        if (name === "collection" && isAway) throw new Error("MongoDB is away");
        const value = Reflect.get(target, name, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
    const stores: Stores = { ...app.stores, jobs };
    const reader = readerConnection({ url: await redisUrl() }, log);
    const feed = new LiveFeed(stores, { clock: app.clock, log, prefix: app.prefix, redis, reader, beatMs: 20 });
    let text = "";
    const stream: EventStream = feed.open(ALL, undefined).on("data", (some) => {
      text += some;
    });
    await eventually(() => /"live":true}\nid: /.test(text), "the feed to be live");
    const beats = () => text.split("\n").filter((line) => line === ":").length;
    const idsOf = (some: string) => [...some.matchAll(/^id: (.+)$/gm)].map(([, id]) => id);
    const before = idsOf(text).at(-1);

    await app.call("PUT", "/api/jobs/told-late", {});
    await eventually(async () => (await redis.xlen(`${app.prefix}:changes`)) > 0, "the change to be told in Redis");
    const had = beats();
    await eventually(() => beats() > had + 20, "heart-beats");
    const untold = text;
    isAway = false;
    await eventually(() => text.includes("told-late"), "the change to be told");
    await eventually(() => idsOf(text).at(-1) !== before, "the place behind it");

    expect(untold).to.not.include("told-late");
    expect(new Set(idsOf(untold))).to.deep.equal(new Set([before]));
    feed.end();
    await once(stream, "close");
    await feed.close();
    redis.disconnect();
  });
});
