import { expect } from "chai";
import sinon from "sinon";
import { listDueRuns } from "../../../src/models/runs/dueRuns.ts";
import { readRun } from "../../../src/models/runs/readRuns.ts";
import type { AgentRun } from "../../../src/models/runs/run.ts";
import { startApp } from "../../support/app.ts";
import { acceptRun } from "../../support/factories.ts";
import { useApp } from "../../support/useApp.ts";

describe("runs", () => {
  const app = useApp();

  const accept = (sessionKey: string) => acceptRun(app, sessionKey);

  it("lose their transcript again after a retry of one whose session was deleted", async () => {
    const { runs } = app.stores;
    const id = await accept("a");
    await runs.cancel(id);
    await runs.markFinalized({ _id: id, round: 0 });
    await runs.collection.native.updateOne({ _id: id }, { $set: { forgotten: true } });

    expect(await runs.retry(id)).to.include({ forgotten: false, round: 1, status: "queued" });
  });

  it("start for the first time once, although the attempt is given back or they are started again", async () => {
    const { runs } = app.stores;
    const id = await accept("first");
    const start = async (token: string) =>
      (await runs.acquire(await runs.find(id), { token, until: new Date(app.clock.now().getTime() + 1_000) }))!;
    const first = await start("one");
    await runs.release(first);
    const second = await start("two");
    await runs.end(second, { kind: "failed", error: { code: "internal", message: "" }, attempts: 1 });
    await runs.collection.native.updateOne({ _id: id }, { $set: { finalized: true } });
    await runs.retry(id);
    const again = await start("three");

    expect([first, second, again].map(({ isFirstStart }) => isFirstStart)).to.deep.equal([true, false, false]);
    expect([first, second, again].map(({ attempts }) => attempts)).to.deep.equal([1, 1, 1]);
  });

  it("are listed as due by index: the next of each session that waits or whose lease has expired", async () => {
    const { runs } = app.stores;
    const [first, , cancelled] = [await accept("a"), await accept("a"), await accept("b")];
    const [next, busy, lost] = [await accept("b"), await accept("c"), await accept("d")];
    const later = await accept("e");
    const inSeconds = (n: number) => new Date(app.clock.now().getTime() + n * 1_000);
    await runs.cancel(cancelled);
    const take = async (id: string, seconds: number) =>
      runs.acquire(await runs.find(id), { token: "t", until: inSeconds(seconds) });
    const [, , retried] = await Promise.all([take(busy, 60), take(lost, 1), take(later, 60)]);
    await runs.retryLater(retried as AgentRun, inSeconds(60), { code: "internal", message: "" });

    const find = async (before: Date) => {
      const ids: string[] = [];
      for await (const { id } of listDueRuns(runs.collection, inSeconds(2), before)) ids.push(id);
      return ids;
    };
    expect(await find(inSeconds(2))).to.have.members([first, next, lost]);
    expect(await find(inSeconds(-2))).to.deep.equal([]);
  });
});

describe("readRun", () => {
  it("reads concurrent requests in one round trip with deliveries, and rejects runs that do not exist", async () => {
    const app = await startApp();
    const ids = [await acceptRun(app, "a"), await acceptRun(app, "b")];
    await app.stores.deliveries.add({ _id: "d", runId: ids[1]!, channel: "log", to: "x", text: "x", fault: null });
    const findOfRuns = sinon.spy(app.stores.deliveries, "findOfRuns");

    const read = await Promise.allSettled([...ids, ids[0]!, "unknown"].map((id) => readRun(app.stores, id)));

    const shown = read.map((one) =>
      one.status === "fulfilled" ? [one.value.runId, one.value.deliveries.length] : one.reason.code,
    );
    expect(shown).to.deep.equal([[ids[0], 0], [ids[1], 1], [ids[0], 0], "run_not_found"]);
    expect(findOfRuns.callCount).to.equal(1);
    await app.close();
  });
});

describe("Messages", () => {
  it("returns turns in the order of writing, whatever the workers' clocks say", async () => {
    const app = await startApp();
    const { messages } = app.stores;
    const turn = (n: number, endedAt: Date) =>
      messages.addTurn(`t${n}`, { sessionKey: "s", prompt: `q${n}`, outside: false, reply: `a${n}`, endedAt });

    await turn(1, new Date("2026-06-01T00:00:10Z"));
    await turn(2, new Date("2026-06-01T00:00:00Z"));
    await turn(1, new Date("2026-06-01T00:00:20Z"));

    const bounds = { maxMessages: 5, maxChars: 1_000 };
    const read = async (bounds: { maxMessages: number; maxChars: number }) =>
      (await messages.findRecent("s", bounds)).map(({ content }) => content);
    expect(await read(bounds)).to.deep.equal(["q1", "a1", "q2", "a2"]);
    expect(await read({ ...bounds, maxChars: 7 })).to.deep.equal(["q2", "a2"]);
    expect(await read({ ...bounds, maxMessages: 1 })).to.deep.equal([]);
    await app.close();
  });
});

describe("MainEvents.findWaiting", () => {
  it("returns events up to the one that exceeds the size, and whether there are more", async () => {
    const app = await startApp();
    const { mainEvents } = app.stores;
    const ids = ["a", "b", "c", "d"];
    for (const _id of ids) await mainEvents.add([{ _id, text: "x".repeat(10), source: "s", wake: false }]);

    const read = async (limit: number, maxChars: number) => {
      const found = await mainEvents.findWaiting({ limit, maxChars });
      return [found.events.map(({ _id }) => _id).join(""), found.more];
    };

    expect(await read(10, 1)).to.deep.equal(["a", true]);
    expect(await read(10, 15)).to.deep.equal(["ab", true]);
    expect(await read(3, 1_000)).to.deep.equal(["abc", true]);
    expect(await read(4, 1_000)).to.deep.equal(["abcd", false]);
    await app.close();
  });
});
