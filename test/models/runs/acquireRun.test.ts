import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { mongo } from "mongoose";
import { acquireRun, renewRun } from "../../../src/models/runs/acquireRun.ts";
import { finalizeRun } from "../../../src/models/runs/finalizeRun.ts";
import type { AgentRun, RunDoc } from "../../../src/models/runs/run.ts";
import { listSessions } from "../../../src/models/sessions/readSessions.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { acceptRun } from "../../support/factories.ts";
import { clearFailPoint, failWrites, UNKNOWN_OUTCOMES } from "../../support/servers/failPoints.ts";
import { mongoUri, useOwnMongod } from "../../support/servers/servers.ts";
import { useApp } from "../../support/useApp.ts";

const LEASE_MS = 15_000;

describe("acquireRun", () => {
  useOwnMongod();
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(async () => {
    await clearFailPoint();
    await app.close();
  });

  const accept = (sessionKey: string, singleUse = false) => acceptRun(app, sessionKey, singleUse);
  const acquire = (runId: string) => acquireRun(app.stores, runId, app.clock, LEASE_MS);
  const acquired = async (runId: string) => (await acquire(runId)) as AgentRun;
  /** Returns the id of a run if it was acquired, otherwise the reason. */
  const result = async (runId: string) => {
    const run = await acquire(runId);
    return typeof run === "string" ? run : run._id;
  };
  const end = (run: AgentRun, reply = "Done.") => app.stores.runs.end(run, { kind: "completed", reply });
  const finalize = async (runId: string) =>
    finalizeRun(app.stores, (await app.stores.runs.findUnfinalized(runId)) as RunDoc, {
      initialReplyTarget: null,
      channels: new Set(),
      isWorthDelivering: () => false,
    });
  const inAMinute = () => new Date(app.clock.now().getTime() + 60_000);
  const isFree = (key: string) =>
    app.stores.sessions.acquire({ key, holder: "next" }, { token: "t", until: inAMinute() });

  it("returns the run as it is stored afterwards", async () => {
    const run = await acquired(await accept("a"));

    expect(run).to.deep.equal({ ...(await app.stores.runs.find(run._id)), isFirstStart: true });
    expect(run).to.include({ status: "running", attempts: 1, notBefore: null });
  });

  for (const singleUse of [false, true]) {
    it(`acquires one run of a session at a time, in the order of acceptance (single use: ${singleUse})`, async () => {
      const [first, later, other] = [await accept("a", singleUse), await accept("a"), await accept("b")];

      expect([await result(later), await result(first), await result(first)]).to.deep.equal(["waiting", first, "over"]);
      expect([await result(later), await result(other)]).to.deep.equal(["waiting", other]);
    });
  }

  it("gives a run to only one of ten concurrent workers", async () => {
    const runId = await accept("a");

    const results = await Promise.all(Array.from({ length: 10 }, () => result(runId)));

    expect(results.filter((one) => one === runId)).to.have.length(1);
    expect((await app.stores.runs.find(runId)).attempts).to.equal(1);
  });

  it("does not acquire a run that has ended", async () => {
    const runId = await accept("a");
    await app.stores.runs.cancel(runId);

    expect(await result(runId)).to.equal("over");
  });

  it("waits until the session's last run is finalized, but not forever", async () => {
    const [first, later] = [await accept("a"), await accept("a")];
    const [broken, behind] = [await accept("b"), await accept("b")];
    for (const runId of [first, broken]) await end(await acquired(runId));

    expect([await result(later), await result(behind)]).to.deep.equal(["waiting", "waiting"]);

    expect((await finalize(first)).nextRunId).to.equal(later);
    expect([await result(later), await result(behind)]).to.deep.equal([later, "waiting"]);
    app.clock.advance(4 * LEASE_MS); // An outage may last longer than a lease.
    expect(await result(behind)).to.equal("waiting");
    app.clock.advance(16 * LEASE_MS);
    expect(await result(behind)).to.equal(behind);
  });

  it("marks the session as busy until the run is finalized", async () => {
    const busy = async () => {
      const listed = await listSessions(app.stores, { limit: 9 }, app.clock.now());
      return listed.sessions.map(({ sessionKey, busy }) => [sessionKey, busy]);
    };
    const run = await acquired(await accept("a", true));
    const during = await busy();

    await end(run);
    await finalize(run._id);

    expect(during).to.deep.equal([["a", true]]);
    expect(await busy()).to.deep.equal([["a", false]]);
  });

  it("acquires a released run again", async () => {
    const { runs, sessions } = app.stores;
    const run = await acquired(await accept("a", true));
    await runs.release(run);
    await sessions.release("a", run.lease.token);

    const again = await acquired(run._id);

    expect(again).to.include({ _id: run._id, attempts: 1 });
    expect(await renewRun(app.stores, again, inAMinute())).to.equal(true);
  });

  it("acquires a run after the lease of its session has expired if its worker died while releasing it", async () => {
    const run = await acquired(await accept("a"));
    await app.stores.runs.release(run);

    const early = await result(run._id);
    app.clock.advance(LEASE_MS + 1);

    expect([early, await result(run._id)]).to.deep.equal(["waiting", run._id]);
  });

  it("makes a retried run wait for a later one that holds the session by then", async () => {
    const { runs } = app.stores;
    const runId = await accept("a", true);
    await runs.cancel(runId);
    await finalize(runId);
    const later = await acquired(await accept("a"));
    await runs.retry(runId);

    expect(await result(runId)).to.equal("waiting");

    await end(later);
    await finalize(later._id);
    expect(await result(runId)).to.equal(runId);
  });

  it("waits while another turn holds the session, until its lease expires", async () => {
    const runId = await accept("a");
    await isFree("a");
    const early = await result(runId);

    app.clock.advance(60_001);

    expect([early, await result(runId)]).to.deep.equal(["waiting", runId]);
  });

  it("acquires a run from a worker whose lease has expired, not from one that has renewed it since", async () => {
    const { runs } = app.stores;
    const [silent, busy] = [await acquired(await accept("a")), await acquired(await accept("b"))];
    app.clock.advance(LEASE_MS + 1);
    const read = [await runs.find(silent._id), await runs.find(busy._id)] as const;
    await runs.renew(busy._id, { token: busy.lease.token, until: inAMinute() });

    const taken = await Promise.all(read.map((run) => runs.acquire(run, { token: "new", until: inAMinute() })));

    expect(taken.map((run) => run?._id)).to.deep.equal([silent._id, undefined]);
    expect(taken[0]?.attempts).to.equal(2);
    expect((await runs.find(busy._id)).lease?.token).to.equal(busy.lease.token);
  });

  for (const [title, how] of UNKNOWN_OUTCOMES) {
    it(`gives a run to the worker one of whose writes ${title}, and to no other`, async () => {
      const [first, other] = [await accept("a"), await accept("b")];
      await failWrites(1, how, ["update"]);
      const session = await result(first);
      await failWrites(1, how, ["findAndModify"]);
      const run = await result(other);

      expect([session, run]).to.deep.equal([first, other]);
      expect([await result(first), await result(other)]).to.deep.equal(["over", "over"]);
      expect((await app.stores.runs.find(other)).attempts).to.equal(1);
    });
  }

  it("does not renew a run once another turn holds the session", async () => {
    const run = await acquired(await accept("a"));
    const before = await renewRun(app.stores, run, inAMinute());
    app.clock.advance(60_001);
    await isFree("a");

    expect([before, await renewRun(app.stores, run, inAMinute())]).to.deep.equal([true, false]);
  });

  it("does not change a run that was cancelled since it was read, and releases its session", async () => {
    const { runs } = app.stores;
    const runId = await accept("a");
    const take = runs.acquire.bind(runs);
    runs.acquire = async (...args) => {
      await runs.cancel(runId);
      return take(...args);
    };

    expect(await result(runId)).to.equal("over");
    expect(await isFree("a")).to.equal(true);
  });

  it("reads few documents, however many runs the session has had and however many wait", async () => {
    const { collection } = app.stores.runs;
    const first = await accept("long");
    const waiting = await app.stores.runs.find(first);
    const later = (i: number) => new mongo.Timestamp({ t: waiting.order.getHighBits() + 1, i });
    const more = Array.from({ length: 4_000 }, (_, i) => ({
      ...waiting,
      _id: randomUUID(),
      open: i % 2 === 0,
      order: later(i + 1),
    }));
    await collection.insertMany(more);

    const { found, docs, keys } = await profiled(() => result(first));

    expect(found).to.equal(first);
    expect(docs).to.be.within(1, 4);
    expect(keys).to.be.within(1, 4);
  });

  /** Returns how many documents and index entries MongoDB examines meanwhile to find runs by session. */
  const profiled = async <T>(find: () => Promise<T>) => {
    const client = await mongo.MongoClient.connect(await mongoUri(app.stores.runs.collection.native.dbName));
    const db = client.db();
    await db.command({ profile: 2 });
    const found = await find();
    await db.command({ profile: 0 });
    const finds = await db
      .collection("system.profile")
      .find({ ns: app.stores.runs.collection.native.namespace, "command.filter.sessionKey": { $exists: true } })
      .toArray();
    await client.close();
    const sum = (field: string) => finds.reduce((all, find) => all + find[field], 0);
    return { found, docs: sum("docsExamined"), keys: sum("keysExamined") };
  };
});

describe("Runs.end", () => {
  const app = useApp();
  const acquire = async (sessionKey: string) =>
    (await acquireRun(app.stores, await acceptRun(app, sessionKey), app.clock, LEASE_MS)) as AgentRun;

  it("changes only runs that the worker holds, not cancelled ones or those of another worker, and no run if the reply is too large", async () => {
    const { runs } = app.stores;
    const [replied, cancelled, takenOver, tooLarge] = [
      await acquire("a"),
      await acquire("b"),
      await acquire("c"),
      await acquire("d"),
    ];
    await runs.cancel(cancelled._id);
    await runs.collection.native.updateOne({ _id: takenOver._id }, { $set: { "lease.token": "another" } });

    const replies = [replied, cancelled, takenOver, tooLarge].map((run) =>
      runs.end(run, { kind: "completed", reply: run === tooLarge ? "x".repeat(17 * 1024 * 1024) : "Done." }),
    );
    const outcomes = (await Promise.allSettled(replies)).map((one) => one.status === "rejected" && one.reason.code);

    expect(outcomes).to.deep.equal([false, false, false, "body_too_large"]);
    const left = await Promise.all(
      [replied, cancelled, takenOver, tooLarge].map(async ({ _id }) => (await runs.find(_id)).status),
    );
    expect(left).to.deep.equal(["completed", "failed", "running", "running"]);
  });
});
