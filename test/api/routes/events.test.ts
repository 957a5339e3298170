import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { expect } from "chai";
import pino from "pino";
import { deleteEndedDeliveries, deleteEndedRuns } from "../../../src/models/retention/deleteEndedRuns.ts";
import { RedisChangeStream } from "../../../src/shared/queue/changeStream.ts";
import { connectProducer } from "../../../src/shared/queue/redis.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { openEvents, type TestEvents } from "../../support/eventSource.ts";
import { eventually } from "../../support/eventually.ts";
import { agentRequest } from "../../support/factories.ts";
import { mongoUri, redisUrl } from "../../support/servers/servers.ts";

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
  const report = (jobId: string, stepKey: string, body: object) =>
    app.call("PUT", `/api/jobs/${jobId}/steps/${stepKey}`, body);

  it("send each job as lists show it, when it is created, reported on, completed and deleted", async () => {
    const events = await watch("/api/events");
    const output = { n: 1 };

    await put("a", { name: "Import", input: { secret: 1 }, metadata: { team: "x" } });
    const created = await events.next("job");
    await report("a", "s", {
      stepName: "Load",
      progress: 50,
      jobProgressStart: 0,
      jobProgressEnd: 100,
      message: "half",
    });
    const reported = await events.next("job");
    await report("a", "s", { status: "completed", progress: 100, jobProgressStart: 0, jobProgressEnd: 100, output });
    const completed = await events.next("job");
    await app.call("DELETE", "/api/jobs/a");
    const removed = await events.next("job_removed");

    expect(created).to.include({ jobId: "a", name: "Import", status: "running", progress: 0, currentStep: null });
    expect(created).to.not.have.any.keys("input", "metadata", "output");
    expect(reported).to.deep.include({ progress: 50, message: "half" });
    expect(reported.currentStep).to.include({ stepKey: "s", progress: 50 });
    expect(completed).to.include({ status: "completed", progress: 100, staleAt: null });
    expect(removed).to.deep.equal({ jobId: "a" });
    expect(events.headers.get("content-type")).to.equal("text/event-stream; charset=utf-8");
    expect(events.headers.get("cache-control")).to.equal("no-store");
    expect(events.headers.get("x-accel-buffering")).to.equal("no");
  });

  it("send a parent when its children change, but nothing of one that does not exist", async () => {
    await put("parent");
    const jobs = await watch("/api/events");
    const removals = await watch("/api/events");

    await put("orphan", { parentJobId: "nobody" });
    await put("child", { parentJobId: "parent" });
    const parent = await jobs.next("job", ({ jobId }) => jobId === "parent");
    await app.call("DELETE", "/api/jobs/child");
    const removed = await removals.next("job_removed");

    expect(parent.children).to.deep.equal({ running: 1, completed: 0, failed: 0 });
    expect(removed).to.deep.equal({ jobId: "child" });
  });

  it("include changes by other processes", async () => {
    const mongo = await mongoUri(`test-${randomUUID()}`);
    const [one, other] = [await startApp({ mongo, prefix: app.prefix }), await startApp({ mongo, prefix: app.prefix })];
    const events = await watch("/api/events", {}, one.url);

    await other.call("PUT", "/api/jobs/elsewhere", { name: "x" });
    const { jobId } = await events.next("job");

    expect(jobId).to.equal("elsewhere");
    for (const { close } of [one, other]) await close();
  });

  it("of one job include only that job and its steps", async () => {
    await put("a");
    await put("b");
    const events = await watch("/api/jobs/a/events");

    await report("b", "s", { stepName: "Other" });
    await report("a", "load", { stepName: "Load", progress: 10, output: { large: true } });
    const job = await events.next("job");
    const step = await events.next("step");
    await app.call("DELETE", "/api/jobs/a");
    await events.next("job_removed");

    expect(job.jobId).to.equal("a");
    expect(step).to.include({ jobId: "a", stepKey: "load", progress: 10, attempts: 1 });
    expect(step).to.not.have.property("output");
    expect(events.events.filter(({ data }) => data.jobId === "b")).to.deep.equal([]);
    expect((await app.call("GET", "/api/jobs/nobody/events")).body.code).to.equal("job_not_found");
  });

  it("apply the filters of lists, and report when a job no longer matches", async () => {
    const running = await watch("/api/events?status=running&name=imp&metadata[team]=x");

    await put("other", { name: "export", metadata: { team: "x" } });
    await put("none", { name: "import" });
    await put("fits", { name: "Import 1", metadata: { team: "x" } });
    const seen = await running.next("job");
    await put("fits", { status: "failed" });
    const gone = await running.next("job_removed", ({ jobId }) => jobId === "fits");

    expect(seen.jobId).to.equal("fits");
    expect(gone).to.deep.equal({ jobId: "fits" });
    const received = running.events.filter(({ event }) => event === "job").map(({ data }) => data.jobId);
    expect(received).to.deep.equal(["fits"]);
  });

  it("omit reports on jobs that do not match the filters", async () => {
    const all = await watch("/api/events");
    await put("busy", { name: "busy" });
    await all.next("job"); // otherwise the other stream may still receive it
    const failed = await watch("/api/events?status=failed&topic=jobs");

    for (let progress = 0; progress < 5; progress++) await report("busy", "s", { stepName: "S", progress });
    await put("last", { status: "failed" });
    await failed.next("job");

    const received = failed.events.map(({ event }) => event).filter((event) => event !== "state");
    expect(received).to.deep.equal(["job"]);
  });

  it("include runs and deliveries, without their whole texts", async () => {
    const events = await watch("/api/events?topic=runs&topic=deliveries");
    const runId = randomUUID();
    const request = { ...agentRequest, message: "s3cret" };
    const text = `${"A long reply. ".repeat(10)}s3cret`;
    const run = { _id: runId, kind: "agent" as const, name: "CI", sessionKey: "s", singleUse: false, mapped: null };

    await put("a");
    await app.stores.runs.accept([{ ...run, request }]);
    const queued = await events.next("run");
    const accepted = await app.stores.runs.find(runId);
    await app.stores.runs.acquire(accepted, { token: "w", until: new Date(Date.now() + 60_000) });
    const running = await events.next("run");
    await app.stores.deliveries.add({ _id: "d", runId, channel: "log", to: "x", text, fault: null });
    const delivery = await events.next("delivery");

    expect(queued).to.include({ runId, kind: "agent", name: "CI", status: "queued", attempts: 0 });
    expect(running).to.include({ runId, status: "running", attempts: 1 });
    expect(delivery).to.include({ deliveryId: "d", runId, state: "pending" });
    expect(JSON.stringify(events.events)).to.not.include("s3cret");
    expect(events.events.some(({ event }) => event === "job")).to.equal(false);
  });

  it("resume after the newest id that a client has received, without a gap", async () => {
    const first = await watch("/api/events");
    await put("a");
    await first.next("job");
    const id = first.lastId() as string;
    first.close();
    for (const jobId of ["b", "c", "d"]) await put(jobId);
    const flushed = await watch("/api/events"); // the last change may still be in flight
    await put("e");
    await flushed.next("job", ({ jobId }) => jobId === "e");

    const byHeader = await watch("/api/events", { "Last-Event-ID": id });
    await byHeader.next("job", ({ jobId }) => jobId === "e");
    const byQuery = await watch(`/api/events?lastEventId=${id}&status=running`);
    await byQuery.next("job", ({ jobId }) => jobId === "e");

    for (const again of [byHeader, byQuery]) {
      const received = again.events.filter(({ event }) => event === "job").map(({ data }) => data.jobId);
      expect(received).to.have.members(["b", "c", "d", "e"]);
      expect(again.lastId()).to.equal(flushed.lastId());
    }
  });

  for (const [title, id] of [
    ["is no longer in the change stream", "1-1"],
    ["lies in the future", "99999999999999-0"],
    ["is invalid", "abc"],
  ] as const) {
    it(`make a client reload when its id ${title}`, async () => {
      await put("a");
      const before = await watch("/api/events");
      await put("b");
      await before.next("job", ({ jobId }) => jobId === "b");

      const events = await watch("/api/events", { "Last-Event-ID": id });

      expect(await events.next("reload")).to.deep.equal({ reason: "gap" });
      await put("c");
      expect((await events.next("job")).jobId).to.equal("c");
    });
  }

  it("make clients reload when ended runs and deliveries are deleted", async () => {
    const { runs, deliveries } = app.stores;
    const runId = randomUUID();
    const run = { _id: runId, kind: "wake" as const, name: "CI", sessionKey: "main", singleUse: false, mapped: null };
    await runs.accept([{ ...run, request: null }]);
    await runs.cancel(runId);
    await runs.markFinalized({ _id: runId, round: 0 });
    await deliveries.add({ _id: "d", runId, channel: "log", to: "x", text: "x", fault: "It was too late." });
    const events = await watch("/api/events?topic=runs&topic=deliveries");
    const later = new Date(Date.now() + 1_000);

    const ofDeliveries = await deleteEndedDeliveries(app.stores, later, later);
    const first = await events.next("reload");
    const ofRuns = await deleteEndedRuns(app.stores, later);
    const second = await events.next("reload");

    expect([ofDeliveries, ofRuns]).to.deep.equal([1, 1]);
    expect([first, second]).to.deep.equal([{ reason: "many" }, { reason: "many" }]);
  });

  it("make clients reload when another process could not publish its changes", async () => {
    const events = await watch("/api/events");
    const away = await connectProducer({ url: await redisUrl() }, pino({ level: "silent" }));
    const changes = new RedisChangeStream(away, app.prefix);
    away.disconnect();
    await once(away, "end");

    changes.notify({ kind: "job", jobId: "a", moved: true });
    await changes.flush();
    await away.connect();

    expect(await events.next("reload")).to.deep.equal({ reason: "many" });
    away.disconnect();
  });

  it("end when the service stops", async () => {
    const mine = await startApp();
    const events = await watch("/api/events", {}, mine.url);

    await mine.close();

    await eventually(() => events.isOver(), "the stream to end");
  });

  it("answer HEAD without a stream, and count the open streams", async () => {
    const response = await fetch(`${app.url}/api/events`, { method: "HEAD" });
    const events = await watch("/api/events");
    const during = (await app.call("GET", "/metrics")).body;
    events.close();

    expect([response.status, await response.text()]).to.deep.equal([200, ""]);
    expect(during).to.match(/^signalbox_event_streams 1$/m);
    await eventually(
      async () => /^signalbox_event_streams 0$/m.test((await app.call("GET", "/metrics")).body),
      "the stream to end",
    );
  });

  for (const [query, field] of [
    ["topic=jbos", "topic"],
    ["status=late", "status"],
    ["colour=red", "colour"],
  ] as const) {
    it(`reject ?${query} with an error that names the parameter`, async () => {
      const { status, body } = await app.call("GET", `/api/events?${query}`);

      expect([status, body.code, body.errors[0].parameter]).to.deep.equal([400, "invalid_query", field]);
    });
  }
});
