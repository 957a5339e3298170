import { expect } from "chai";
import { mongo } from "mongoose";
import { eventually } from "../../../support/eventually.ts";
import { NotifyFixture, toLog, toWebhook } from "../../../support/notifyFixture.ts";

const JOBS = 2_000;
const MESSAGE = "x".repeat(60_000);
const BATCH = 200;

describe("notify: a storm of stale jobs", () => {
  let fixture: NotifyFixture;
  before(async () => {
    fixture = await NotifyFixture.start([
      { id: "hook", on: ["job.stale"], to: toWebhook() },
      { id: "hourly", on: ["job.stale"], to: toWebhook(), cooldown: "1h" },
      { id: "chat", on: ["job.stale"], to: toLog },
    ]);
  });
  after(() => fixture.close());

  it(`dispatches ${JOBS} events, each once to webhooks, and finds another stale job meanwhile`, async () => {
    const { jobs } = fixture.app.stores;
    await fixture.stopWorker();
    await jobs.put("model", { name: "model", message: "x", staleAfterSeconds: 30 });
    const model = await jobs.collection.native.findOne({ jobId: "model" });
    for (let i = 0; i < JOBS; i += BATCH) {
      const docs = Array.from({ length: BATCH }, (_, k) => ({
        ...structuredClone({ ...model, _id: undefined }),
        ...{ _id: new mongo.ObjectId(), jobId: `job-${i + k}`, name: `job ${i + k}`, message: MESSAGE },
      }));
      await jobs.collection.native.insertMany(docs as never[], { ordered: false });
    }
    await jobs.put("later", { name: "later", staleAfterSeconds: 40 });
    fixture.app.clock.advance(31_000);
    await fixture.startWorker();
    const { deliveries } = fixture.app.stores;
    const sent = (rule: string) => deliveries.collection.native.countDocuments({ "event.rule": rule });
    await eventually(async () => (await sent("hook")) > 100, "the beginning of the storm");

    fixture.app.clock.advance(10_000);

    await eventually(async () => (await jobs.collection.native.findOne({ jobId: "later" }))?.silence, "the later job");
    await eventually(
      async () => (await sent("hourly")) === JOBS + 2 && (await sent("hook")) === JOBS + 2,
      "all events",
      300_000,
      500,
    );
    expect(await sent("chat")).to.be.within(20, 60);
  }).timeout(600_000);
});
