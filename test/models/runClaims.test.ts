import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { mongo } from "mongoose";
import { claimRuns } from "../../src/models/commands/claimRun.ts";
import type { RunDoc } from "../../src/models/run.ts";
import { inSessions } from "../../src/models/runsTogether.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { acceptRun } from "../support/factories.ts";

describe("runs that are claimed together", () => {
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(() => app.close());

  const accept = (sessionKey: string) => acceptRun(app, sessionKey);
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

  it("read little of a session, however many runs it has had and however many wait", async () => {
    const { collection } = app.stores.runs;
    const [first, other] = [await accept("long"), await accept("other")];
    const waiting = await app.stores.runs.find(first);
    const later = (i: number) => new mongo.Timestamp({ t: waiting.order.getHighBits() + 1, i });
    const more = Array.from({ length: 4_000 }, (_, i) => ({
      ...{ ...waiting, _id: randomUUID(), open: i % 2 === 0, order: later(i + 1) },
    }));
    await collection.insertMany(more);

    const { stages } = await collection.aggregate(inSessions(collection, [first, other])).explain("executionStats");
    const { totalDocsExamined, totalKeysExamined } = stages.find((stage: object) => "$lookup" in stage);
    expect(Number(totalDocsExamined)).to.be.within(2, 8);
    expect(Number(totalKeysExamined)).to.be.within(2, 8);
    expect(await app.stores.runs.findInSessions([first])).to.deep.equal([{ run: waiting, nextRunId: first }]);
  });
});
