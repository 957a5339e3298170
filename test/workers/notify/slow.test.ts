import { expect } from "chai";
import type { mongo } from "mongoose";
import { eventually } from "../../support/eventually.ts";
import { createJob, report } from "../../support/factories.ts";
import { NotifyFixture, toWebhook } from "../../support/notifyFixture.ts";
import { TIMES } from "../../support/random.ts";

/** Jobs that are slow at once; the nightly command has more. */
const MANY = TIMES > 1 ? 10_000 : 200;
const MINUTE_MS = 60_000;
const on = ["job.slow"];

describe("notify: slow jobs", () => {
  let fixture: NotifyFixture;
  beforeEach(async () => {
    fixture = await NotifyFixture.start([
      { id: "usual", on, to: toWebhook() },
      { id: "late", on, to: toWebhook(), slow: { factor: 4, after: "1h" } },
      { id: "long", on, to: toWebhook(), slow: { longerThan: "3h" }, where: { name: "Imp" } },
    ]);
    await fixture.scanned();
  });
  afterEach(() => fixture.close());

  const advance = async (minutes: number) => {
    fixture.app.clock.advance(minutes * MINUTE_MS);
    await fixture.scanned();
  };
  const put = async (path: string, body: object) => (await fixture.app.call("PUT", path, body)).body;
  const create = (name = "Import") => createJob(fixture.app, { name });
  const counts = () => Promise.all(["usual", "late", "long"].map(async (rule) => (await fixture.bodies(rule)).length));
  /** Stores durations, by default of ten minutes. */
  const addHistory = async (name: string, minutes = 10) => {
    for (let i = 0; i < 5; i++) {
      const { path } = await create(name);
      fixture.app.clock.advance(minutes * MINUTE_MS);
      await put(path, { status: "completed" });
    }
    const { path } = await createJob(fixture.app, { name, status: "completed" });
    const isStored = async () => {
      fixture.app.clock.advance(11_000);
      return (await fixture.app.call("GET", path)).body.usual !== null;
    };
    await eventually(isStored, "the durations to be stored");
  };

  it("announces a job once for each rule, without the time for which it waits for a person", async () => {
    await addHistory("Import");
    const { path, jobId } = await create();
    await fixture.scanned();
    await advance(15);
    await put(`${path}/gates/go`, { title: "Go on?" });
    await advance(600);
    expect(await counts()).to.deep.equal([0, 0, 0]);
    await fixture.app.call("POST", `${path}/gates/go/answer`, { action: "accept" });
    await fixture.scanned();
    expect(await counts()).to.deep.equal([0, 0, 0]);
    await advance(8);
    await report(fixture.app, path, "load", { progress: 10 });
    const [{ data }] = await fixture.bodies("usual");
    expect(data.job).to.include({ jobId, name: "Import" });
    expect(data.elapsedMs).to.be.within(22 * MINUTE_MS, 24 * MINUTE_MS);
    expect(data.usual.p95Ms / (10 * MINUTE_MS)).to.be.within(0.95, 1.05);
    await advance(20);
    expect(await counts()).to.deep.equal([1, 0, 0]);
    await advance(30);
    expect(await counts()).to.deep.equal([1, 1, 0]);
    await advance(120);
    await advance(600);
    expect(await counts()).to.deep.equal([1, 1, 1]);

    await put(path, { status: "failed" });
    await put(path, { status: "running" });
    await fixture.scanned();
    expect(await counts()).to.deep.equal([1, 1, 1]);
    await advance(24);
    expect(await counts()).to.deep.equal([2, 1, 1]);
  });

  it("announces no job in its first minute, however short its history is", async () => {
    await addHistory("Import", 0.1);
    await create();
    await fixture.scanned();
    await advance(0.9);
    expect(await counts()).to.deep.equal([0, 0, 0]);
    await advance(0.2);
    expect(await counts()).to.deep.equal([1, 0, 0]);
  });

  it("announces a job without a history only by a rule with a time", async () => {
    await create();
    await create("Other");
    await fixture.scanned();
    await advance(170);
    expect(await counts()).to.deep.equal([0, 0, 0]);
    await advance(20);
    expect(await counts()).to.deep.equal([0, 0, 1]);
    expect((await fixture.bodies("long"))[0].data.usual).to.equal(null);
  });

  it("announces an ended job no more, and the others when the record of one cannot be updated", async () => {
    const { native } = fixture.app.stores.jobs.collection;
    const [ended, broken] = [await create(), await create(), await create()];
    await fixture.scanned();
    await put(ended.path, { status: "completed" });
    await native.updateOne({ jobId: broken.jobId }, { $set: { notes: "no list" } as never });
    fixture.app.clock.advance(200 * MINUTE_MS);
    await eventually(async () => (await counts())[2] === 1, "the sound job");
    const setAside = async () => (await native.findOne({ jobId: broken.jobId }))?.slowAt === undefined;
    await eventually(setAside, "the broken one to be set aside");
    await native.deleteOne({ jobId: broken.jobId });
  });

  it(`announces ${MANY} slow jobs, each once, and uses an index`, async function () {
    this.timeout(300_000);
    const { native } = fixture.app.stores.jobs.collection;
    const { jobId } = await create("model");
    await fixture.scanned();
    const model = await native.findOne({ jobId });
    await native.deleteOne({ jobId });
    const slowAt = fixture.app.clock.now();
    const copies = Array.from({ length: MANY }, (_, i) => ({
      ...(model as mongo.WithId<object>),
      _id: undefined,
      jobId: `job-${i}`,
      name: `Import ${i}`,
      slowAt,
    }));
    await native.insertMany(copies.map(({ _id, ...copy }) => copy) as never[]);
    fixture.app.clock.advance(200 * MINUTE_MS);
    const { native: deliveries } = fixture.app.stores.deliveries.collection;
    // counted by MongoDB: reading all of them each time would take longer than the dispatch
    const isDone = async () => (await deliveries.countDocuments({ "event.rule": "long" })) >= MANY;
    await eventually(isDone, "all events", 250_000, 200);
    await fixture.scanned();
    const ids = (await fixture.bodies("long")).map(({ data }) => data.job.jobId);
    expect(new Set(ids).size).to.equal(MANY);
    expect(ids).to.have.length(MANY);
    const plan = await native
      .find({ status: "running", slowAt: { $lte: slowAt } })
      .sort({ slowAt: 1 })
      .explain();
    expect(JSON.stringify(plan)).to.include("slowAt_1");
  });
});
