import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { stub } from "sinon";
import { Clients } from "../../../api/waiting/clients.ts";
import type { TestApp } from "../../../support/app.ts";
import { eventually } from "../../../support/eventually.ts";
import { acceptRun, createJob, report } from "../../../support/factories.ts";
import { freeze } from "../../../support/freeze.ts";
import { mongoUri, startRedis } from "../../../support/servers/servers.ts";
import { callThrough, startTlsProxy } from "../../../support/servers/tlsProxy.ts";
import { startFollowingApp, startWait } from "../../../support/waiting.ts";

/** The default of `server.maxWaiting`. */
const COUNT = 1_000;

describe("many requests with Prefer: wait", () => {
  let app: TestApp;
  let clients: Clients;

  beforeEach(async () => {
    app = await startFollowingApp();
    clients = new Clients();
  });
  afterEach(async () => {
    clients.leave();
    await app.close();
  });
  const isWaiting = (count: number) => eventually(() => app.waiting() === count, `${count} requests to wait`);

  it("wait for one job at the default limit while others are answered, and share their reads", async () => {
    const { jobId, path } = await createJob(app);
    const answers = Array.from({ length: COUNT }, () => clients.get(app.url + path));
    await isWaiting(COUNT);

    const { path: other } = await createJob(app);
    await report(app, other, "load", { progress: 5 });
    const seen = await app.call("GET", other);
    const find = stub(app.stores.jobs, "find").callThrough();
    const others = find.withArgs(jobId);
    await app.call("PUT", path, { status: "completed", output: { rows: 1 } });
    const all = await Promise.all(answers);
    const reads = others.callCount;
    find.restore();

    expect(seen.body.currentStep.progress).to.equal(5);
    for (const { statusCode, headers } of all) {
      expect([statusCode, headers["preference-applied"]]).to.deep.equal([200, "wait=60"]);
    }
    expect(new Set(all.map((one) => one.text)).size).to.equal(1);
    expect(JSON.parse(all[0]?.text ?? "")).to.deep.include({ status: "completed", output: { rows: 1 } });
    expect(reads).to.be.below(COUNT / 100);
    expect(app.waiting()).to.equal(0);
  });

  it("are woken by a change that another process has made", async () => {
    const mongo = await mongoUri(`test-${randomUUID()}`);
    const one = await startFollowingApp({ mongo, prefix: app.prefix });
    const other = await startFollowingApp({ mongo, prefix: app.prefix });
    const { path } = await createJob(one);
    const runId = await acceptRun(one, "s");
    const etag = (await one.call("GET", path)).headers.get("ETag") ?? "";
    const ended = await startWait(one, path);
    const changed = await startWait(one, path, { headers: { "If-None-Match": etag } });
    const run = await startWait(one, `/api/runs/${runId}`);

    await report(other, path, "load", { progress: 10 });
    const first = await changed.answer;
    await other.call("PUT", path, { status: "completed" });
    await other.stores.runs.cancel(runId);

    expect(first.body.currentStep.progress).to.equal(10);
    expect((await ended.answer).body.status).to.equal("completed");
    expect((await run.answer).body.status).to.equal("failed");
    for (const { close } of [one, other]) await close();
  });

  it("read again and again while Redis is unavailable, and continue when it is back", async () => {
    const redis = await startRedis();
    const alone = await startFollowingApp({ redis: redis.url });
    const { path } = await createJob(alone);
    const before = await startWait(alone, path);

    await redis.stop();
    const { path: during } = await createJob(alone);
    const meanwhile = await startWait(alone, during);
    await alone.call("PUT", path, { status: "completed" });
    await alone.call("PUT", during, { status: "failed" });
    const away = [(await before.answer).body.status, (await meanwhile.answer).body.status];
    await redis.start();
    const { path: after } = await createJob(alone);
    const again = await startWait(alone, after);
    await alone.call("PUT", after, { status: "completed" });

    expect(away).to.deep.equal(["completed", "failed"]);
    expect((await again.answer).body.status).to.equal("completed");
    await alone.close();
    await redis.remove();
  });

  it("notice an end while Redis hangs", async () => {
    const redis = await startRedis();
    const alone = await startFollowingApp({ redis: redis.url });
    const { path } = await createJob(alone);
    const { answer } = await startWait(alone, path);

    await freeze(redis.pid);
    await alone.call("PUT", path, { status: "completed" });
    const { body } = await answer;
    redis.signal("SIGCONT");

    expect(body.status).to.equal("completed");
    await alone.close();
    await redis.remove();
  });

  it("wait behind a proxy that ends TLS, and free their places when the clients of the proxy leave", async () => {
    const proxy = await startTlsProxy(Number(new URL(app.url).port));
    const [{ path }, { path: other }] = [await createJob(app), await createJob(app)];
    const leaving = new AbortController();
    const headers = { Prefer: "wait=30" };
    const kept = callThrough(proxy, path, { headers });
    const left = callThrough(proxy, other, { headers, signal: leaving.signal }).catch(() => "left");
    await isWaiting(2);

    leaving.abort();
    await isWaiting(1);
    await app.call("PUT", path, { status: "completed" });
    const { status, headers: answered, text } = await kept;
    proxy.close();

    expect([status, answered["preference-applied"], JSON.parse(text).status]).to.deep.equal([
      200,
      "wait=30",
      "completed",
    ]);
    expect(await left).to.equal("left");
  });
});
