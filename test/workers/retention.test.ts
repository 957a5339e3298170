import { expect } from "chai";
import pino from "pino";
import { retentionProcessor } from "../../src/workers/processors/retention.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { createJob, report, whole } from "../support/factories.ts";

const DAY_MS = 86_400_000;

describe("retention", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(() => app.close());

  const run = (settings: { completedAfter?: string; failedAfter?: string }, signal = new AbortController().signal) => {
    const context = { signal, clock: app.clock, log: pino({ level: "silent" }) };
    return retentionProcessor(app.stores, { retainSingleUse: "7d", ...settings })(
      { id: "1", payload: {}, lastTry: true },
      context,
    );
  };
  const exists = async (path: string) => (await app.call("GET", path)).status === 200;
  const ended = async (status: string) => {
    const job = await createJob(app);
    await report(app, job.path, "a", whole(10));
    await app.call("PUT", job.path, { status });
    return job.path;
  };

  it("deletes ended jobs that are old enough, with their steps, and counts them", async () => {
    const old = [await ended("completed"), await ended("completed"), await ended("failed")];
    app.clock.advance(31 * DAY_MS);
    const young = [await ended("completed"), await ended("failed")];

    const outcome = await run({ completedAfter: "30d", failedAfter: "2w" });

    expect(outcome).to.deep.include({ kind: "done" });
    expect(outcome).to.have.property("result").that.includes({ completed: 2, failed: 1 });
    for (const path of old) expect(await exists(path), path).to.equal(false);
    for (const path of young) expect(await exists(path), path).to.equal(true);
    expect(await app.stores.steps.collection.countDocuments()).to.equal(2);
  });

  it("is off by default, for each outcome on its own", async () => {
    const completed = await ended("completed");
    const failed = await ended("failed");
    app.clock.advance(1_000 * DAY_MS);

    await run({});
    expect([await exists(completed), await exists(failed)]).to.deep.equal([true, true]);

    await run({ failedAfter: "1d" });
    expect([await exists(completed), await exists(failed)]).to.deep.equal([true, false]);
  });

  it("never takes a running job, however old, nor one that was opened again", async () => {
    const running = (await createJob(app)).path;
    const opened = await ended("completed");
    await app.call("PUT", opened, { status: "running" });
    app.clock.advance(1_000 * DAY_MS);

    await run({ completedAfter: "1d", failedAfter: "1d" });

    expect([await exists(running), await exists(opened)]).to.deep.equal([true, true]);
  });

  it("goes by the job's end, not by later changes or its creation", async () => {
    const path = (await createJob(app)).path;
    app.clock.advance(20 * DAY_MS);
    await app.call("PUT", path, { status: "completed" });
    app.clock.advance(20 * DAY_MS);
    await app.call("PUT", path, { name: "renamed" });

    await run({ completedAfter: "30d" });
    expect(await exists(path)).to.equal(true);

    app.clock.advance(11 * DAY_MS);
    await run({ completedAfter: "30d" });
    expect(await exists(path)).to.equal(false);
  });

  it("works through more than one batch", async () => {
    const jobs = Array.from({ length: 1_200 }, (_, i) => ({
      jobId: `old-${i}`,
      status: "failed",
      endedAt: new Date(0),
    }));
    await app.stores.jobs.collection.insertMany(jobs as never);

    const outcome = await run({ failedAfter: "1d" });

    expect(outcome).to.have.property("result").that.includes({ failed: 1_200 });
    expect(await app.stores.jobs.collection.countDocuments()).to.equal(0);
  });

  it("stops between two batches when the process stops", async () => {
    const path = await ended("failed");
    app.clock.advance(2 * DAY_MS);

    await run({ failedAfter: "1d" }, AbortSignal.abort());

    expect(await exists(path)).to.equal(true);
  });

  it("forgets a deletion once nothing of it can come any more", async () => {
    const { path } = await createJob(app);
    await app.call("DELETE", path);

    await run({});
    const soon = await app.stores.deletions.collection.countDocuments();
    app.clock.advance(11 * 60_000);
    await run({});

    expect(soon).to.equal(1);
    expect(await app.stores.deletions.collection.countDocuments()).to.equal(0);
  });

  it("forgets the transcript of a session made for one run, a week after its end, and keeps the run and other sessions", async () => {
    const request = {
      ...{ message: "x", wakeMode: "now" as const, deliver: false, channel: "last", to: null, model: null },
      ...{ thinking: null, timeoutSeconds: 1, trackAsJob: false },
    };
    const run = (_id: string, sessionKey: string, singleUse: boolean) => ({
      _id,
      sessionKey,
      singleUse,
      name: null,
      request,
      kind: "agent" as const,
      mapped: null,
    });
    const runs = [
      run("a", "hook:a", true),
      run("b", "hook:b", true),
      run("c", "hook:b", false),
      run("d", "constant", false),
    ];
    await app.stores.runs.accept(runs);
    await app.stores.runs.collection.updateMany({}, { $set: { endedAt: app.clock.now(), open: false, settled: true } });
    for (const key of ["hook:a", "hook:b", "constant"]) {
      const turn = { sessionKey: key, told: "asked", outside: true, answered: "answered", endedAt: app.clock.now() };
      await app.stores.messages.addTurn(key, turn);
    }

    await afterDays(6);
    const early = await app.stores.messages.collection.countDocuments();
    await afterDays(2);

    expect(early).to.equal(6);
    expect(await app.stores.messages.collection.distinct("sessionKey")).to.deep.equal(["constant", "hook:b"]);
    expect(await app.stores.runs.collection.countDocuments()).to.equal(4);
  });

  async function afterDays(days: number): Promise<void> {
    app.clock.advance(days * DAY_MS);
    await run({});
  }
});
