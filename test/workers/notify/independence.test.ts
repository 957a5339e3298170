import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";
import { NotifyFixture, toLog, toWebhook } from "../../support/notifyFixture.ts";

describe("notify: loops and independent messages", () => {
  let fixture: NotifyFixture;
  afterEach(() => fixture.close());

  it("starts at most six turns a minute by rules, whatever their events are about", async () => {
    fixture = await NotifyFixture.start([{ id: "wake", on: ["job.failed"], to: { wake: "now" } }]);
    const { events, sessions } = fixture.app.database.collections;
    for (let i = 0; i < 12; i++) {
      await fixture.app.stores.jobs.put(`job-${i}`, { name: `loop ${i}`, status: "failed" });
      await eventually(
        async () =>
          (await events.countDocuments()) === i + 1 &&
          (await events.countDocuments({ waiting: true, wake: true })) === 0,
        "the turn, or its postponement",
      );
    }
    const metrics = await fixture.worker.metrics.registry.metrics();

    const turns = Number(/^signalbox_heartbeat_turns_total\{outcome="replied"\} (\d+)$/m.exec(metrics)?.[1]);
    expect(turns).to.equal(6);
    expect(await events.countDocuments({ waiting: true, wake: false })).to.equal(6);
    expect((await sessions.findOne({ _id: "main" }))?.ruleTurns?.count ?? 12).to.be.at.least(7);
  });

  it("sends an alert while an earlier one to the same chat waits for another try", async () => {
    fixture = await NotifyFixture.start([{ id: "chat", on: ["job.failed"], to: toLog }]);
    await fixture.stopWorker();
    const { deliveries } = fixture.app.stores;
    const common = { runId: null, kind: "channel" as const, channel: "log", to: "people", fault: null };
    const event = { id: "a", type: "job.failed" as const, rule: "chat" };
    await deliveries.add({ ...common, _id: "a-chat", text: "a", event });
    const notBefore = new Date(fixture.app.clock.now().getTime() + 3_600_000);
    await deliveries.collection.native.updateOne({ _id: "a-chat" }, { $set: { notBefore } });
    await fixture.startWorker();

    await fixture.app.stores.jobs.put("b", { name: "b", status: "failed" });

    await eventually(async () => (await fixture.deliveries("chat"))[1]?.state === "sent", "the second alert");
    expect((await fixture.deliveries("chat"))[0]?.state).to.equal("pending");
  });

  it("dispatches a question before the events of a storm that began earlier", async () => {
    fixture = await NotifyFixture.start([{ id: "hook", on: ["job.failed", "gate.opened"], to: toWebhook() }]);
    await fixture.stopWorker();
    for (let i = 0; i < 250; i++) await fixture.app.stores.jobs.put(`job-${i}`, { status: "failed" });
    const { path } = await createJob(fixture.app);
    await fixture.app.call("PUT", `${path}/gates/publish`, { title: "Publish?" });

    await fixture.startWorker();

    const [first] = await fixture.delivered("hook", 251);
    expect(first?.event?.type).to.equal("gate.opened");
  });
});
