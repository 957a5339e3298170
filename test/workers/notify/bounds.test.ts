import { expect } from "chai";
import sinon from "sinon";
import { eventually, untilPasses } from "../../support/eventually.ts";
import { createJob, report } from "../../support/factories.ts";
import { NotifyFixture, toLog, toWebhook } from "../../support/notifyFixture.ts";

const MESSAGE = "x".repeat(60_000);

describe("notify: bounds", () => {
  let fixture: NotifyFixture;
  beforeEach(async () => {
    fixture = await NotifyFixture.start([
      { id: "hook", on: ["job.failed"], to: toWebhook() },
      { id: "chat", on: ["job.failed"], to: toLog },
      { id: "hourly", on: ["job.failed"], to: toLog, cooldown: "1h" },
    ]);
  });
  afterEach(async () => {
    sinon.restore();
    await fixture.close();
  });

  it("keeps 50 events of a job that nobody dispatches, and counts those that it drops", async () => {
    await fixture.stopWorker();
    const { jobs } = fixture.app.stores;
    for (let i = 0; i < 120; i++) {
      await jobs.put("flapping", { status: "running" });
      await jobs.put("flapping", { status: "failed", message: `${i} ${MESSAGE}` });
    }
    const job = await jobs.collection.native.findOne({ jobId: "flapping" });
    const { status } = await report(fixture.app, "/api/jobs/flapping", "a", {});

    await fixture.startWorker();

    const hooks = await fixture.delivered("hook", 50);
    const notes = job?.notes ?? [];
    const numbers = notes.map(({ was }) => Number.parseInt(String(was?.message), 10));
    expect(status).to.be.oneOf([200, 201]);
    expect(numbers.slice(0, 26)).to.deep.equal([...Array.from({ length: 25 }, (_, i) => i), 95]);
    expect(numbers.at(-1)).to.equal(119);
    expect(notes.map(({ dropped = 0 }) => dropped).filter((count) => count > 0)).to.deep.equal([70]);
    const heldBack = hooks.map(({ webhook }) => JSON.parse(webhook?.body ?? "").data.heldBack).filter(Boolean);
    expect(heldBack).to.deep.equal([70]);
    expect(await fixture.deliveries("chat")).to.have.length(20);
    const { alerts } = fixture.app.database.collections;
    expect((await alerts.findOne({ _id: JSON.stringify(["hourly", "flapping"]) }))?.held).to.equal(119);
    fixture.app.clock.advance(46_000);
    const summary = (await fixture.delivered("chat", 21)).at(-1);
    expect(summary?.text.split("\n")[0]).to.equal("100 more events within the last minute:");
  });

  it("sets an event aside after five tries, and dispatches the others meanwhile", async () => {
    const { deliveries } = fixture.app.stores;
    const add = deliveries.add.bind(deliveries);
    sinon.stub(deliveries, "add").callsFake((delivery) => {
      if (delivery.webhook?.body.includes("poison")) throw new TypeError("poison");
      return add(delivery);
    });
    const poison = await createJob(fixture.app, { name: "poison" });
    await report(fixture.app, poison.path, "a", { status: "failed", failJob: true });
    const other = await createJob(fixture.app, { name: "other" });
    await report(fixture.app, other.path, "a", { status: "failed", failJob: true });

    await eventually(async () => (await fixture.deliveries("hook")).length === 1, "the other event");
    const { outbox, jobs } = fixture.app.database.collections;
    await eventually(async () => {
      fixture.app.clock.advance(1_000);
      return (await outbox.countDocuments({ failedAt: { $exists: true } })) > 0;
    }, "the event that is set aside");

    const kept = await outbox.findOne({ failedAt: { $exists: true } });
    expect(kept?.failed).to.deep.include({ error: "TypeError: poison" });
    expect(kept?.failed?.note).to.include({ type: "job.failed", tries: 4 });
    // The event is stored before its note is removed and it is counted.
    await untilPasses(async () => expect((await jobs.findOne({ jobId: poison.jobId }))?.notes).to.equal(undefined));
    const metrics = () => fixture.worker.metrics.registry.metrics();
    await untilPasses(async () =>
      expect(await metrics()).to.match(/^signalbox_notifications_failed_total\{type="job.failed"\} 1$/m),
    );
  });

  it("sets a summary aside after five tries, and sends those of other rules meanwhile", async () => {
    const { deliveries, jobs, alerts } = fixture.app.stores;
    const add = deliveries.add.bind(deliveries);
    const tried = sinon.stub(deliveries, "add").callsFake((delivery) => {
      if (delivery._id.startsWith("summary") && delivery.event?.rule === "chat") throw new TypeError("poison");
      return add(delivery);
    });
    const poison = () =>
      tried.getCalls().filter(({ args: [one] }) => one._id.startsWith("summary") && one.event?.rule === "chat").length;
    await fixture.stopWorker();
    for (let i = 0; i < 25; i++) await jobs.put(`job-${i}`, { name: `job ${i}`, status: "failed" });
    await fixture.startWorker();
    await fixture.delivered("hourly", 20);

    fixture.app.clock.advance(46_000);

    expect((await fixture.delivered("hourly", 21)).at(-1)?.text).to.match(/^5 more events/);
    await eventually(async () => !(await alerts.hasDue(fixture.app.clock.now())), "the summary that is set aside");
    expect(poison()).to.equal(5);
    expect(await fixture.deliveries("chat")).to.have.length(20);
  });
});
