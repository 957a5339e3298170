import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { mongo } from "mongoose";
import { claimRuns } from "../../src/models/commands/claimRun.ts";
import type { RunDoc } from "../../src/models/run.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { acceptRun } from "../support/factories.ts";
import { mongoUri } from "../support/servers.ts";

describe("runs that are claimed together", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(() => app.close());

  const accept = (sessionKey: string) => acceptRun(app, sessionKey);
  const acceptAlone = (sessionKey: string) => acceptRun(app, sessionKey, true);
  const claim = async (...runIds: string[]) => {
    const now = app.clock.now();
    const until = new Date(now.getTime() + 60_000);
    return claimRuns(
      app.stores,
      runIds.map((runId) => ({ runId, token: randomUUID(), until, now })),
    );
  };
  const shown = (claimed: Awaited<ReturnType<typeof claim>>) =>
    claimed.map((one) => (typeof one === "string" ? one : one._id));
  const inAMinute = () => new Date(app.clock.now().getTime() + 60_000);

  it("are each session's next, each once", async () => {
    const [first, second] = [await accept("a"), await accept("a")];
    const [other, ended] = [await accept("b"), await accept("c")];
    await app.stores.runs.cancel(ended);

    const claimed = await claim(second, first, first, other, ended, "unknown");

    expect(shown(claimed)).to.deep.equal(["waiting", first, "waiting", other, "over", "over"]);
    expect(shown(await claim(first, other))).to.deep.equal(["over", "over"]);
    expect(claimed[1]).to.deep.equal(await app.stores.runs.find(first));
  });

  it("are taken once each where their sessions were made for them, before what comes in these sessions later", async () => {
    const { runs, sessions } = app.stores;
    const [first, other] = [await acceptAlone("a"), await acceptAlone("b")];
    const later = await accept("a");

    const claimed = await claim(later, first, first, other);

    expect(shown(claimed)).to.deep.equal(["waiting", first, "waiting", other]);
    expect(shown(await claim(first, later, other))).to.deep.equal(["over", "waiting", "over"]);
    const run = claimed[1] as RunDoc;
    await runs.end(run, run.claim?.token ?? "", { status: "completed", reply: "Done." });
    expect(shown(await claim(later))).to.deep.equal(["waiting"]);
    await sessions.release([{ key: "a", holder: `${first}-0` }]);
    expect(shown(await claim(later))).to.deep.equal([later]);
  });

  it("are taken again when they were handed back, though their sessions are there by then", async () => {
    const { runs, sessions } = app.stores;
    const runId = await acceptAlone("a");
    const [run] = (await claim(runId)) as RunDoc[];
    const token = run?.claim?.token ?? "";
    await runs.handBack(runId, token);

    expect(shown(await claim(runId))).to.deep.equal(["waiting"]);

    await sessions.releaseOwn("a", token);
    expect(shown(await claim(runId))).to.deep.equal([runId]);
  });

  it("have a session that is new from the first claim on, also when the same claim is made again", async () => {
    const { sessions } = app.stores;
    const first = { key: "a", holder: "x", token: "t", until: inAMinute(), isNew: true };
    const known = { key: "b", holder: "y", token: "u", until: inAMinute() };

    const taken = await sessions.claimEach([first, known]);
    const again = await sessions.claimEach([
      first,
      { ...first, token: "another" },
      { ...known, isNew: true, token: "v" },
    ]);

    expect(taken).to.deep.equal([true, true]);
    expect(again).to.deep.equal([true, false, false]);
    const held = await sessions.collection.find().sort({ _id: 1 }).toArray();
    expect(held.map(({ active }) => active?.token)).to.deep.equal(["t", "u"]);
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
    const before = await Promise.all(
      [silent, busy].map(async (id) => ({ run: await runs.find(id), token: id, until })),
    );
    await runs.claimEach(before);
    const read = await Promise.all([silent, busy].map((id) => runs.find(id)));
    await runs.renew(busy, busy, inAMinute());

    const claimed = await runs.claimEach(read.map((run) => ({ run, token: "new", until: inAMinute() })));

    expect(claimed.map((run) => run?._id)).to.deep.equal([silent, undefined]);
    expect(claimed[0]).to.deep.equal(await runs.find(silent));
    expect((await runs.find(busy)).claim?.token).to.equal(busy);
  });

  it("leave alone what was cancelled between the reading and the taking, and free its session", async () => {
    const { runs, sessions } = app.stores;
    const [gone, taken] = [await accept("a"), await accept("b")];
    const claimEach = runs.claimEach.bind(runs);
    runs.claimEach = async (claims) => {
      await runs.cancel(gone);
      return claimEach(claims);
    };

    const claimed = await claim(gone, taken);

    expect(shown(claimed)).to.deep.equal(["over", taken]);
    expect(await sessions.claim("a", "next", "t", inAMinute())).to.equal(true);
    expect(await sessions.claim("b", "next", "t", inAMinute())).to.equal(false);
  });

  it("end each as it has: by their worker, by who cancelled them, or not at all where another has them", async () => {
    const { runs } = app.stores;
    const ids = [await accept("a"), await accept("b"), await accept("c"), await accept("d")] as const;
    const claims = (await claim(...ids)) as RunDoc[];
    const [replied, cancelled, takenOver, tooLarge] = claims as [RunDoc, RunDoc, RunDoc, RunDoc];
    await runs.cancel(cancelled._id);
    await runs.collection.updateOne({ _id: takenOver._id }, { $set: { "claim.token": "another" } });
    const end = (run: RunDoc, reply: string) => runs.end(run, run.claim?.token ?? "", { status: "completed", reply });

    const ended = await Promise.allSettled([
      ...[end(replied, "Done."), end(cancelled, "Done."), end(takenOver, "Done.")],
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
