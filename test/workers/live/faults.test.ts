import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { createJob, report, whole } from "../../support/factories.ts";
import { LiveFixture } from "../../support/liveFixture.ts";
import { answers, breaks } from "../../support/servers/channelServer.ts";

describe("messages that follow jobs, in spite of faults", () => {
  let fixture: LiveFixture;
  beforeEach(async () => {
    fixture = await LiveFixture.start("telegram");
  });
  afterEach(() => fixture.close());
  const texts = () => fixture.messages.map(({ text }) => text);

  it("goes on with the same message after a restart of the worker", async () => {
    const { path } = await createJob(fixture.app, { name: "Import" });
    await fixture.shows("Import");
    await fixture.recorded();
    await fixture.stopWorkers();
    await report(fixture.app, path, "load", whole(50));
    await fixture.startWorker();
    await fixture.shows("50 %");
    await fixture.app.call("PUT", path, { status: "completed" });
    await fixture.shows("✅");

    expect(fixture.messages).to.have.length(1);
  });

  it("sends a message again if the worker ended before it could store the id", async () => {
    const { jobId, path } = await createJob(fixture.app, { name: "Import" });
    await fixture.shows("Import");
    await fixture.recorded();
    await fixture.stopWorkers();
    const { liveMessages } = fixture.app.database.collections;
    await liveMessages.updateOne({ jobId }, { $set: { id: null, isShown: false } }); // as if killed in between
    await fixture.startWorker();
    await eventually(() => fixture.messages.length === 2, "the second message");
    await fixture.recorded();
    await report(fixture.app, path, "load", whole(50));
    await fixture.app.call("PUT", path, { status: "completed" });
    await fixture.shows("✅");

    expect(texts().map((text) => text.slice(0, 1))).to.deep.equal(["⏳", "✅"]);
  });

  it("is written by one of two workers", async () => {
    await fixture.startWorker();
    const jobs = await Promise.all([1, 2, 3].map((n) => createJob(fixture.app, { name: `Import ${n}` })));
    await eventually(() => fixture.messages.length === 3, "three messages");
    for (const { path } of jobs) await report(fixture.app, path, "load", whole(50));
    await eventually(() => texts().every((text) => text.includes("50 %")), "the progress of each");
    for (const { path } of jobs) await fixture.app.call("PUT", path, { status: "completed" });
    await eventually(() => texts().every((text) => text.startsWith("✅")), "the end of each");

    expect(fixture.messages).to.have.length(3);
  });

  it("shows the newest state once the service is back, and each report is answered meanwhile", async () => {
    const { path } = await createJob(fixture.app, { name: "Import" });
    await fixture.shows("Import");
    await fixture.recorded();
    fixture.service.fail(...Array.from({ length: 2 }, () => answers(502, "")), breaks);
    for (const progress of [10, 20, 30]) await report(fixture.app, path, "load", whole(progress));
    await fixture.app.call("PUT", path, { status: "completed" });
    await fixture.shows("✅");

    expect(fixture.messages).to.have.length(1);
    const { deliveries } = fixture.app.database.collections;
    expect(await deliveries.countDocuments({ state: "failed" })).to.equal(0);
  });

  it("respects the time that the service asks for, with the end of the job too", async () => {
    const { path } = await createJob(fixture.app, { name: "Import" });
    await fixture.shows("Import");
    await fixture.recorded();
    const limit = { ok: false, error_code: 429, description: "Too Many Requests", parameters: { retry_after: 3_600 } };
    const before = fixture.service.server.requests.length;
    fixture.service.fail(answers(429, limit));
    await report(fixture.app, path, "load", whole(10));
    await eventually(() => fixture.service.server.requests.length > before, "the limited request");
    await report(fixture.app, path, "load", whole(20));
    await fixture.app.call("PUT", path, { status: "completed" });
    const { deliveries } = fixture.app.database.collections;
    const soon = new Date(fixture.app.clock.now().getTime() + 60_000);
    await eventually(() => deliveries.findOne({ notBefore: { $gt: soon } }), "the end to wait");

    expect(fixture.service.server.requests).to.have.length(before + 1);
  });

  it("says that a job was deleted, also if no worker ran", async () => {
    const first = await createJob(fixture.app, { name: "First" });
    const second = await createJob(fixture.app, { name: "Second" });
    await Promise.all([fixture.shows("First"), fixture.shows("Second")]);
    const { liveMessages } = fixture.app.database.collections;
    const isStored = async () => (await liveMessages.countDocuments({ id: { $type: "string" }, lease: null })) === 2;
    await eventually(isStored, "both records");

    await fixture.app.call("DELETE", first.path);
    await fixture.shows("<b>First</b> was deleted");
    await fixture.stopWorkers();
    await fixture.app.call("DELETE", second.path);
    await fixture.startWorker();
    await fixture.shows("<b>Second</b> was deleted");

    await eventually(async () => (await liveMessages.countDocuments({})) === 0, "no record");
    expect(fixture.messages).to.have.length(2);
  });

  it("begins another message for a job that is made anew under the id of a deleted one", async () => {
    const { path } = await createJob(fixture.app, { name: "Old" });
    await fixture.shows("Old");
    await fixture.recorded();
    await fixture.app.call("DELETE", path);
    await fixture.app.call("PUT", path, { name: "New" });
    await Promise.all([fixture.shows("<b>Old</b> was deleted"), fixture.shows("⏳ <b>New</b>")]);

    expect(fixture.messages).to.have.length(2);
  });

  it("begins another message for a job that is started again after its end", async () => {
    const { path } = await createJob(fixture.app, { name: "Import" });
    await fixture.shows("Import");
    await fixture.recorded();
    await fixture.app.call("PUT", path, { status: "completed" });
    await fixture.shows("✅");
    await fixture.app.call("PUT", path, { status: "running", message: "once more" });
    await fixture.shows("once more");

    expect(texts().map((text) => text.slice(0, 1))).to.deep.equal(["✅", "⏳"]);
  });
});
