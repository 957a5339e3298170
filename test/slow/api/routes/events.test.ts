import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { connect } from "node:net";
import { expect } from "chai";
import { startApp, type TestApp } from "../../../support/app.ts";
import { openEvents, type TestEvents } from "../../../support/eventSource.ts";
import { eventually } from "../../../support/eventually.ts";
import { freeze } from "../../../support/freeze.ts";
import { mongoUri, startRedis } from "../../../support/servers/servers.ts";

describe("live events", () => {
  let app: TestApp;
  const open: TestEvents[] = [];
  beforeEach(async () => {
    app = await startApp({ config: `{ channels: { log: {} } }` });
  });
  afterEach(async () => {
    for (const one of open.splice(0)) one.close();
    await app.close();
  });
  const watch = async (path: string, headers?: Record<string, string>, url = app.url, live = true) => {
    const events = await openEvents(url + path, headers, { live });
    open.push(events);
    return events;
  };
  const put = (jobId: string, body: object = {}) => app.call("PUT", `/api/jobs/${jobId}`, body);

  it("resume without a gap for a client that reconnects before a newly started process follows the change stream", async () => {
    const mongo = await mongoUri(`test-${randomUUID()}`);
    const before = await startApp({ mongo, prefix: app.prefix });
    const first = await watch("/api/events", {}, before.url);
    await before.call("PUT", "/api/jobs/a", {});
    await first.next("job");
    const id = first.lastId() as string;
    await before.call("PUT", "/api/jobs/missed", {});
    await first.next("job");
    await before.close();

    const started = await startApp({ mongo, prefix: app.prefix });
    const again = await watch("/api/events", { "Last-Event-ID": id }, started.url, false);
    const { jobId } = await again.next("job");

    expect(again.events[0]).to.deep.equal({ event: "state", data: { live: false } });
    expect(jobId).to.equal("missed");
    expect(again.events.some(({ event }) => event === "reload")).to.equal(false);
    await started.close();
  });

  it("make clients reload when very many jobs are deleted at once", async () => {
    const docs = Array.from({ length: 2_500 }, (_, i) => `job-${i}`);
    await put("first");
    const model = await app.stores.jobs.find("first");
    await app.stores.jobs.collection.native.insertMany(
      docs.map((jobId) => ({ ...model, _id: new (model._id.constructor as new () => typeof model._id)(), jobId })),
    );
    const events = await watch("/api/events");

    await app.call("DELETE", "/api/jobs");

    await eventually(
      async () => events.events.some(({ event }) => event === "reload" || event === "job_removed"),
      "the deletions to be sent",
    );
    await put("after");
    await events.next("job", ({ jobId }) => jobId === "after");
  });

  it("report that they are not live while Redis is unavailable, and make clients reload once it is back", async () => {
    const redis = await startRedis();
    const alone = await startApp({ redis: redis.url });
    const events = await watch("/api/events", {}, alone.url);

    await redis.stop();
    const away = await events.next("state");
    const meanwhile = await watch("/api/events", {}, alone.url, false);
    const { status } = await alone.call("PUT", "/api/jobs/before-outage-ends", {});
    await redis.start();
    const back = await events.next("state");
    const again = await events.next("reload");
    await meanwhile.next("state", ({ live }) => live);
    await alone.call("PUT", "/api/jobs/during-outage", {});
    const job = await events.next("job", ({ jobId }) => jobId === "during-outage");

    expect([away, back, again]).to.deep.equal([{ live: false }, { live: true }, { reason: "gap" }]);
    expect(meanwhile.events[0]).to.deep.equal({ event: "state", data: { live: false } });
    expect([status, job.jobId]).to.deep.equal([201, "during-outage"]);
    await alone.close();
    await redis.remove();
  });

  it("report that they are not live while Redis hangs, and continue once it responds", async () => {
    const redis = await startRedis();
    const alone = await startApp({ redis: redis.url });
    const events = await watch("/api/events", {}, alone.url);

    await freeze(redis.pid);
    await eventually(() => events.events.at(-1)?.data.live === false, "the outage to be noticed");
    redis.signal("SIGCONT");
    await eventually(() => events.events.at(-1)?.event === "reload", "the stream to continue");
    await alone.call("PUT", "/api/jobs/during-outage", {});

    expect((await events.next("job", ({ jobId }) => jobId === "during-outage")).jobId).to.equal("during-outage");
    await alone.close();
    await redis.remove();
  });

  it("end for a client that reads nothing, so that it cannot delay a shutdown", async () => {
    const other = await startApp();
    const socket = connect(Number(new URL(other.url).port), "127.0.0.1");
    socket.write("GET /api/events HTTP/1.1\r\nHost: localhost\r\n\r\n");
    await once(socket, "readable"); // the stream has begun; from now on nothing is read
    const long = "x".repeat(60_000);
    for (let n = 0; n < 4; n++) {
      const ids = Array.from({ length: 60 }, (_, i) => `job-${n}-${i}`);
      await Promise.all(ids.map((id) => other.call("PUT", `/api/jobs/${id}`, { message: long, description: long })));
    }

    await other.close();

    expect(socket.bytesRead).to.be.below(60_000 * 240); // most of the stream was never received
    socket.destroy();
  });
});
