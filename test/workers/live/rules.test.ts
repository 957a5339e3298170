import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { createJob, report, whole } from "../../support/factories.ts";
import { LIVE_TIMINGS, LiveFixture } from "../../support/liveFixture.ts";

describe("a rule whose messages follow jobs", () => {
  let fixture: LiveFixture;
  afterEach(() => fixture.close());

  it("follows only the jobs that its conditions choose, also after a change of their metadata", async () => {
    fixture = await LiveFixture.start("telegram", { rule: { where: { metadata: { team: "sales" } } } });
    const other = await createJob(fixture.app, { name: "Other", metadata: { team: "ops" } });
    await createJob(fixture.app, { name: "Chosen", metadata: { team: "sales" } });
    await fixture.shows("Chosen");
    await report(fixture.app, other.path, "load", whole(50));
    await fixture.app.call("PUT", other.path, { metadata: { team: "sales" } });
    await fixture.shows("Other");

    expect(fixture.messages.map(({ text }) => /Chosen|Other/.exec(text)?.[0])).to.deep.equal(["Chosen", "Other"]);
  });

  it("shows how much time is left once the progress is steady, and at the end how long it took", async () => {
    fixture = await LiveFixture.start("telegram");
    const { path } = await createJob(fixture.app, { name: "Steady" });
    const first = await fixture.shows("Steady");
    for (const progress of [10, 20, 30, 40]) {
      fixture.app.clock.advance(20_000);
      await report(fixture.app, path, "load", whole(progress));
      await fixture.shows(`${progress} %`);
    }

    const { text } = first;
    await fixture.recorded();
    await fixture.app.call("PUT", path, { status: "completed" });
    await fixture.shows("✅");

    expect(first.edits[1]).to.include("10 %").and.not.include("left");
    expect(text).to.match(/40 %, about [23] min left/);
    expect(first.text).to.match(/completed after \d/);
  });

  it("sends one message, which rings, about a job that ends soon after its creation", async () => {
    const live = { ...LIVE_TIMINGS.live, afterMs: 600_000 };
    fixture = await LiveFixture.start("telegram", { timings: { ...LIVE_TIMINGS, live } });
    const failed = await createJob(fixture.app, { name: "Short" });
    await report(fixture.app, failed.path, "load", { status: "failed", failJob: true, log: "No space left" });
    const message = await fixture.shows("❌");
    await fixture.settled();

    expect(fixture.messages).to.deep.equal([message]);
    expect(message.text).to.include("No space left");
    expect(message.isQuiet).to.equal(false);
  });

  it("edits the ends of more jobs than a rule sends messages within a minute", async () => {
    fixture = await LiveFixture.start("telegram");
    const jobs = await Promise.all(Array.from({ length: 25 }, (_, n) => createJob(fixture.app, { name: `Job ${n}` })));
    const { liveMessages } = fixture.app.database.collections;
    const isStored = async () => (await liveMessages.countDocuments({ id: { $type: "string" }, lease: null })) === 25;
    await eventually(isStored, "all messages");
    for (const { path } of jobs) await fixture.app.call("PUT", path, { status: "completed" });
    await eventually(() => fixture.messages.every(({ text }) => text.startsWith("✅")), "the end of each job");

    expect(fixture.messages).to.have.length(25);
  });

  it("shows the log of a failure in the message that rings, and not in the one that followed the job", async () => {
    fixture = await LiveFixture.start("telegram");
    const { path } = await createJob(fixture.app, { name: "Import" });
    await fixture.shows("Import");
    await fixture.recorded();
    await report(fixture.app, path, "load", { status: "failed", failJob: true, log: "No space left" });
    const [ended, ring] = await Promise.all([fixture.shows("❌"), fixture.rings()]);

    expect(ended.text).to.not.include("No space left");
    expect(ring.text).to.include("No space left");
  });

  it("can be tested with a message of its own", async () => {
    fixture = await LiveFixture.start("telegram");
    await fixture.app.call("POST", "/api/notify/live/test");

    const { text } = await fixture.shows("This is a test");
    expect(text).to.include("live");
  });
});
