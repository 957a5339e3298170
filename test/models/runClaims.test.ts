import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { mongo } from "mongoose";
import { claimRuns, renewClaim } from "../../src/models/commands/claimRun.ts";
import { listSessions } from "../../src/models/commands/readSessions.ts";
import { settleRuns } from "../../src/models/commands/settleRun.ts";
import type { AgentRun, RunDoc } from "../../src/models/run.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { acceptRun } from "../support/factories.ts";
import { LOST, loseNoMore, loseWrites } from "../support/lostAnswers.ts";
import { mongoUri, useOwnMongod } from "../support/servers.ts";

const LEASE_MS = 15_000;

describe("runs that are claimed together", () => {
  useOwnMongod();
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(async () => {
    await loseNoMore();
    await app.close();
  });

  const accept = (sessionKey: string) => acceptRun(app, sessionKey);
  const acceptAlone = (sessionKey: string) => acceptRun(app, sessionKey, true);
  const claim = (...runIds: string[]) => claimRuns(app.stores, runIds, app.clock.now(), LEASE_MS);
  const end = (run: AgentRun, reply = "Done.") => app.stores.runs.end(run, { status: "completed", reply });
  const settle = (...ended: RunDoc[]) =>
    settleRuns(app.stores, ended, { firstRoute: null, channels: new Set(), isWorthDelivering: () => false });
  const shown = (claimed: Awaited<ReturnType<typeof claim>>) =>
    claimed.map((one) => (typeof one === "string" ? one : one._id));
  const inAMinute = () => new Date(app.clock.now().getTime() + 60_000);

  it("are each session's next, each once", async () => {
    const [first, second] = [await accept("a"), await accept("a")];
    const [other, ended] = [await accept("b"), await accept("c")];
    await app.stores.runs.cancel(ended);

    const claimed = await claim(second, first, first, other, ended, "unknown");

    expect(shown(claimed)).to.deep.equal(["waiting", "waiting", first, other, "over", "over"]);
    expect(shown(await claim(first, other))).to.deep.equal(["over", "over"]);
    expect(claimed[2]).to.deep.equal(await app.stores.runs.find(first));
  });

  it("are taken once each where their sessions were made for them, before what comes in these sessions later", async () => {
    const { sessions } = app.stores;
    const [first, other] = [await acceptAlone("a"), await acceptAlone("b")];
    const later = await accept("a");

    const claimed = await claim(later, first, first, other);

    expect(shown(claimed)).to.deep.equal(["waiting", "waiting", first, other]);
    expect(shown(await claim(first, later, other))).to.deep.equal(["over", "waiting", "over"]);
    expect(await sessions.collection.countDocuments()).to.equal(0);
  });

  it("wait until the end of the run that had their session alone is seen through, if that does not take for ever", async () => {
    const [first, later] = [await acceptAlone("a"), await accept("a")];
    const [given, upTo] = [await acceptAlone("b"), await accept("b")];
    const ended = await Promise.all(((await claim(first, given)) as AgentRun[]).map((run) => end(run)));

    expect(shown(await claim(later, upTo))).to.deep.equal(["waiting", "waiting"]);

    const [settled] = await settle(ended[0] as RunDoc);
    expect(settled?.nextRunId).to.equal(later);
    expect(shown(await claim(later, upTo))).to.deep.equal([later, "waiting"]);
    app.clock.advance(4 * LEASE_MS); // an outage may keep everybody from it for longer than a lease
    expect(shown(await claim(upTo))).to.deep.equal(["waiting"]);
    app.clock.advance(16 * LEASE_MS);
    expect(shown(await claim(upTo))).to.deep.equal([upTo]);
  });

  it("are shown to have the session that was made for them once their turns take longer, and let it go at their end", async () => {
    const [run, other] = (await claim(await acceptAlone("a"), await acceptAlone("b"))) as [AgentRun, AgentRun];
    const busy = async () => {
      const shown = await listSessions(app.stores, { limit: 9 }, app.clock.now());
      return shown.sessions.map(({ sessionKey, busy }) => [sessionKey, busy]);
    };

    expect(await renewClaim(app.stores, run, inAMinute())).to.equal(true);
    expect(await busy()).to.deep.equal([["a", true]]);

    const ended = (await Promise.all([end(run), end(other)])) as RunDoc[];
    expect(await renewClaim(app.stores, other, inAMinute())).to.equal(false);
    await settle(...ended);
    expect(await busy()).to.have.deep.members([
      ["a", false],
      ["b", false],
    ]);
  });

  it("are taken again when they were handed back", async () => {
    const { runs, sessions } = app.stores;
    const runId = await acceptAlone("a");
    const [run] = (await claim(runId)) as [AgentRun];
    await renewClaim(app.stores, run, inAMinute());
    await runs.handBack(runId, run.claim.token);
    await sessions.releaseOwn("a", run.claim.token);

    const [again] = (await claim(runId)) as [AgentRun];

    expect(again._id).to.equal(runId);
    expect(await renewClaim(app.stores, again, inAMinute())).to.equal(true);
  });

  it("go on in their session where it is still shown to be busy with a try whose worker died as it gave the run back", async () => {
    const runId = await acceptAlone("a");
    const [run] = (await claim(runId)) as [AgentRun];
    await renewClaim(app.stores, run, inAMinute());
    await app.stores.runs.handBack(runId, run.claim.token);

    const [again] = (await claim(runId)) as [AgentRun];

    expect(await renewClaim(app.stores, again, inAMinute())).to.equal(true);
  });

  it("need their session's lock once they were begun anew: others may be in it", async () => {
    const { runs } = app.stores;
    const runId = await acceptAlone("a");
    await runs.cancel(runId);
    await runs.markSettled([{ _id: runId, round: 0 }]);
    const [later] = (await claim(await accept("a"))) as [AgentRun];
    await runs.retry(runId);

    expect(shown(await claim(runId))).to.deep.equal(["waiting"]);

    await settle((await end(later)) as RunDoc);
    expect(shown(await claim(runId))).to.deep.equal([runId]);
  });

  it("wait while a turn has their session, and are taken when its time is over", async () => {
    const [held, free] = [await accept("a"), await accept("b")];
    await app.stores.sessions.claim("a", "somebody", "t", inAMinute());

    expect(shown(await claim(held, free))).to.deep.equal(["waiting", free]);

    app.clock.advance(60_001);
    expect(shown(await claim(held))).to.deep.equal([held]);
  });

  it("are taken from a worker that has gone silent, and not from one that has said a word since", async () => {
    const { runs } = app.stores;
    const [silent, busy] = [await accept("a"), await accept("b")];
    const until = new Date(app.clock.now().getTime() + 1_000);
    const find = () => Promise.all([silent, busy].map((id) => runs.find(id)));
    await runs.claimEach(await find(), { token: "old", until });
    const read = await find();
    await runs.renew(busy, "old", inAMinute());

    const claimed = await runs.claimEach(read, { token: "new", until: inAMinute() });

    expect(claimed.map((run) => run?._id)).to.deep.equal([silent, undefined]);
    expect(claimed[0]).to.deep.equal(await runs.find(silent));
    expect((await runs.find(busy)).claim?.token).to.equal("old");
  });

  for (const [title, how] of LOST) {
    it(`are taken when the write of it ${title}`, async () => {
      const [first, shared] = [await acceptAlone("a"), await accept("b")];
      await loseWrites(1, how);
      const alone = shown(await claim(first));
      await loseWrites(1, how);
      const locked = shown(await claim(shared));

      expect([...alone, ...locked]).to.deep.equal([first, shared]);
      expect(shown(await claim(first, shared))).to.deep.equal(["over", "over"]);
    });
  }

  it("are no longer their worker's once another has the session", async () => {
    const { sessions } = app.stores;
    const [run] = (await claim(await accept("a"))) as [AgentRun];
    const before = await renewClaim(app.stores, run, inAMinute());
    app.clock.advance(60_001);
    await sessions.claim("a", "somebody", "t", inAMinute());

    expect([before, await renewClaim(app.stores, run, inAMinute())]).to.deep.equal([true, false]);
  });

  it("free their sessions as they end together, and leave one to a turn that has taken it since", async () => {
    const { sessions } = app.stores;
    const ids = [await accept("a"), await accept("b"), await accept("c")];
    const ended = (await Promise.all(((await claim(...ids)) as AgentRun[]).map((run) => end(run)))) as RunDoc[];
    await sessions.collection.updateOne({ _id: "b" }, { $set: { "active.holder": "somebody" } });

    await settle(...ended);

    const free = ["a", "b", "c"].map((key) => sessions.claim(key, "next", "t", inAMinute()));
    expect(await Promise.all(free)).to.deep.equal([true, false, true]);
  });

  it("leave alone what was cancelled between the reading and the taking, and free its session", async () => {
    const { runs, sessions } = app.stores;
    const [gone, taken] = [await accept("a"), await accept("b")];
    const claimEach = runs.claimEach.bind(runs);
    runs.claimEach = async (...claiming) => {
      await runs.cancel(gone);
      return claimEach(...claiming);
    };

    const claimed = await claim(gone, taken);

    expect(shown(claimed)).to.deep.equal(["over", taken]);
    expect(await sessions.claim("a", "next", "t", inAMinute())).to.equal(true);
    expect(await sessions.claim("b", "next", "t", inAMinute())).to.equal(false);
  });

  it("end each as it has: by their worker, by who cancelled them, or not at all where another has them", async () => {
    const { runs } = app.stores;
    const ids = [await accept("a"), await accept("b"), await accept("c"), await accept("d")] as const;
    const [replied, cancelled, takenOver, tooLarge] = (await claim(...ids)) as [AgentRun, AgentRun, AgentRun, AgentRun];
    await runs.cancel(cancelled._id);
    await runs.collection.updateOne({ _id: takenOver._id }, { $set: { "claim.token": "another" } });

    const ended = await Promise.allSettled([
      ...[end(replied), end(cancelled), end(takenOver)],
      end(tooLarge, "x".repeat(17 * 1024 * 1024)),
    ]);

    const outcomes = ended.map((one) => (one.status === "fulfilled" ? one.value?.status : one.reason.code));
    expect(outcomes).to.deep.equal(["completed", "failed", undefined, "body_too_large"]);
    const left = await Promise.all(ids.map(async (id) => (await runs.find(id)).status));
    expect(left).to.deep.equal(["completed", "failed", "running", "running"]);
    expect(ended[0]).to.deep.include({ value: await runs.find(replied._id) });
  });

  /** How many documents and index entries MongoDB has looked at meanwhile to find runs by their session. */
  const profiled = async <T>(find: () => Promise<T>) => {
    const client = await mongo.MongoClient.connect(await mongoUri(app.stores.runs.collection.dbName));
    const db = client.db();
    await db.command({ profile: 2 });
    const found = await find();
    await db.command({ profile: 0 });
    const finds = await db
      .collection("system.profile")
      .find({ ns: app.stores.runs.collection.namespace, "command.filter.sessionKey": { $exists: true } })
      .toArray();
    await client.close();
    const sum = (field: string) => finds.reduce((all, find) => all + find[field], 0);
    return { found, docs: sum("docsExamined"), keys: sum("keysExamined") };
  };

  it("read little of a session, however many runs it has had and however many wait", async () => {
    const { collection } = app.stores.runs;
    const [first, other] = [await accept("long"), await accept("other")];
    const waiting = await app.stores.runs.find(first);
    const later = (i: number) => new mongo.Timestamp({ t: waiting.order.getHighBits() + 1, i });
    const more = Array.from({ length: 4_000 }, (_, i) => ({
      ...{ ...waiting, _id: randomUUID(), open: i % 2 === 0, order: later(i + 1) },
    }));
    await collection.insertMany(more);

    const { found, docs, keys } = await profiled(() => app.stores.runs.findInSessions([first, other]));

    expect(found.map((one) => one?.nextRunId)).to.deep.equal([first, other]);
    expect(docs).to.be.within(2, 8);
    expect(keys).to.be.within(2, 8);
    expect(await app.stores.runs.findInSessions([first])).to.deep.equal([{ run: waiting, nextRunId: first }]);
  });
});
