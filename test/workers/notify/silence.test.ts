import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { createJob, report } from "../../support/factories.ts";
import { NotifyFixture, toLog, toWebhook } from "../../support/notifyFixture.ts";
import { TIMES } from "../../support/random.ts";

const on = ["job.stale", "job.recovered"];

/**
 * The stale period of the jobs. The tests advance the clock by ten seconds less or a little more, because real time passes too;
 * a minute without a scan would be an outage.
 */
const STALE_AFTER_SECONDS = 30;

/** Jobs that turn stale at once; the nightly command has more. */
const MANY = TIMES > 1 ? 1_000 : 200;

describe("notify: silent jobs", () => {
  let fixture: NotifyFixture;
  beforeEach(async () => {
    fixture = await NotifyFixture.start([
      { id: "hook", on, to: toWebhook() },
      { id: "chat", on, to: toLog },
      { id: "wake", on: ["job.stale"], to: { wake: "next-heartbeat" } },
      { id: "failed", on: ["job.failed"], to: toLog },
      { id: "sales", on, to: toWebhook(), where: { metadata: { team: "sales" } } },
    ]);
    await scanned();
  });
  afterEach(() => fixture.close());

  const scanned = () => fixture.scanned();
  const advance = async (seconds: number) => {
    fixture.app.clock.advance(seconds * 1_000);
    await scanned();
  };
  const create = (more: object = {}) => createJob(fixture.app, { staleAfterSeconds: STALE_AFTER_SECONDS, ...more });
  const typesOf = async (rule: string) => (await fixture.bodies(rule)).map(({ type }) => type);

  it("announces a silence once, and its end", async () => {
    const { jobId, path } = await create({ name: "Nightly *backup*" });
    await report(fixture.app, path, "collect", { progress: 40, message: "120 of 300" });
    await advance(20);
    const early = await typesOf("hook");

    await advance(12);
    await advance(20);
    const [stale] = await fixture.bodies("hook");
    await report(fixture.app, path, "collect", { progress: 50 });
    await report(fixture.app, path, "collect", { progress: 60 });
    await scanned();

    expect(early).to.deep.equal([]);
    expect(await typesOf("hook")).to.deep.equal(["job.stale", "job.recovered"]);
    expect(stale.data.job).to.include({ jobId, stale: true, status: "running" });
    expect(stale.data.lastReportAt).to.equal(stale.data.job.lastReportAt);
    const texts = (await fixture.deliveries("chat")).map(({ text }) => text);
    expect(texts[0]).to.match(
      /^\*\*Nightly \\\*backup\\\*\*\* has not been reported since .+ UTC, at 0 % in step \*\*collect\*\*\.\n\n120 of 300$/,
    );
    expect(texts[1]).to.match(/is reported again/);
  });

  it("announces each silence of a job, also one after a change without a report", async () => {
    const { path } = await create();
    await advance(32);
    await fixture.app.call("PUT", path, { name: "renamed" });
    await fixture.app.call("PUT", path, { staleAfterSeconds: 15 });
    await scanned();
    const once = await typesOf("hook");

    await report(fixture.app, path, "a", {});
    await advance(32);

    expect(once).to.deep.equal(["job.stale"]);
    expect(await typesOf("hook")).to.deep.equal(["job.stale", "job.recovered", "job.stale"]);
  });

  it("keeps announced jobs among the stale ones of lists and statistics", async () => {
    const { jobId } = await create();
    await advance(32);

    const { body } = await fixture.app.call("GET", "/api/jobs?stale=true");
    const stats = await fixture.app.call("GET", "/api/stats");

    expect(body.jobs.map((job: { jobId: string }) => job.jobId)).to.deep.equal([jobId]);
    expect(stats.body.jobs.stale).to.equal(1);
  });

  it("sends a recovery only by rules that have announced the silence", async () => {
    const { path } = await create({ metadata: { team: "support" } });
    await advance(32);
    await fixture.app.call("PUT", path, { metadata: { team: "sales" } });

    await report(fixture.app, path, "a", {});

    await fixture.dispatched();
    expect(await typesOf("hook")).to.deep.equal(["job.stale", "job.recovered"]);
    expect(await typesOf("sales")).to.deep.equal([]);
  });

  it("wakes the agent with the text", async () => {
    await create({ name: "Nightly" });

    await advance(32);

    const [delivery] = await fixture.deliveries("wake");
    const event = await fixture.app.database.collections.events.findOne({ _id: `notify-${delivery?._id}` });
    expect(delivery).to.include({ kind: "wake", state: "sent", channel: "wake" });
    expect(event).to.include({ text: delivery?.text, source: "notification wake", wake: false });
    expect(event?.text).to.match(/^\*\*Nightly\*\* has not been reported since/);
  });

  it(`sends ${MANY} jobs that turn stale at once to webhooks, and to chats 20 and a summary`, async () => {
    await fixture.stopWorker();
    const names = Array.from({ length: MANY }, (_, i) => `job ${i}`);
    await Promise.all(
      names.map((name) => fixture.app.stores.jobs.put(randomUUID(), { name, staleAfterSeconds: STALE_AFTER_SECONDS })),
    );
    await fixture.startWorker();

    await advance(32);

    const hooks = await fixture.delivered("hook", MANY);
    expect(await fixture.deliveries("chat")).to.have.length(20);
    await advance(46);
    const chats = await fixture.delivered("chat", 21);
    expect(new Set(hooks.map(({ event }) => event?.id)).size).to.equal(MANY);
    expect(hooks).to.have.length(MANY);
    const lines = chats.at(-1)?.text.split("\n") ?? [];
    expect(lines[0]).to.equal(`${MANY - 20} more events within the last minute:`);
    expect(lines.filter((line) => line.startsWith("- job"))).to.have.length(10);
    expect(lines.at(-1)).to.equal(`- and ${MANY - 30} more`);
    expect(await fixture.delivered("wake", 21)).to.have.length(21);
  });

  it("sends no summary of a minute twice, and sends singly again in the next one", async () => {
    await fixture.stopWorker();
    const fail = (count: number) =>
      Promise.all(Array.from({ length: count }, () => fixture.app.stores.jobs.put(randomUUID(), { status: "failed" })));
    await fail(25);
    await fixture.startWorker();
    await fixture.delivered("failed", 20);
    await advance(46);
    await fixture.delivered("failed", 21);
    await advance(20);
    await fail(1);

    const texts = (await fixture.delivered("failed", 22)).map(({ text }) => text.split("\n")[0]);

    expect(texts).to.have.length(22);
    expect(texts[20]).to.equal("5 more events within the last minute:");
    expect(texts[21]).to.match(/failed/);
  });

  it("sends a message for each of 20 jobs", async () => {
    await fixture.stopWorker();
    await Promise.all(Array.from({ length: 20 }, () => create({ name: "x" })));
    await fixture.startWorker();

    await advance(32);

    await fixture.delivered("chat", 20);
    expect(await fixture.deliveries("chat")).to.have.length(20);
  });

  it("gives jobs one more stale period after an hour of outage", async () => {
    const { path } = await create({ name: "alive" });
    await create({ name: "dead" });
    await advance(15);
    await fixture.stopWorker();
    fixture.app.clock.advance(3_600_000);
    await fixture.startWorker();
    await scanned();
    const atOnce = await typesOf("hook");
    await advance(15);
    await report(fixture.app, path, "a", {});

    await advance(18);

    expect(atOnce).to.deep.equal([]);
    const names = (await fixture.bodies("hook")).map(({ data }) => data.job.name);
    expect(names).to.deep.equal(["dead"]);
  });
});

describe("notify: expected jobs", () => {
  let fixture: NotifyFixture;
  before(async () => {
    fixture = await NotifyFixture.start([{ id: "hook", on: ["job.missing"], to: toWebhook() }], {
      expect: [{ id: "backup", name: "Nightly backup", every: "1d", grace: "2h" }],
    });
  });
  after(() => fixture.close());

  const doc = () => fixture.app.database.collections.expectations.findOne({ _id: "backup" });
  const hours = async (count: number) => {
    fixture.app.clock.advance(count * 3_600_000);
    // Shorter steps than an outage would take hours.
    const { lastScan } = fixture.app.database.collections;
    await lastScan.updateMany({}, { $set: { at: fixture.app.clock.now(), resumedAt: null } });
    await fixture.scanned();
    return fixture.bodies("hook");
  };

  it("are missing once for each time by which one was due, and not after one was created", async () => {
    await eventually(doc, "the beginning of the expectations");
    const early = await hours(25);
    const first = await hours(2);
    const still = await hours(1);
    await fixture.app.stores.jobs.put("b1", { name: "Nightly backup of sales" });
    const inTime = await hours(25);
    const second = await hours(2);

    expect([early, first, still, inTime, second].map(({ length }) => length)).to.deep.equal([0, 1, 1, 1, 2]);
    expect(first[0]?.data).to.deep.equal({ expect: { id: "backup", name: "Nightly backup" }, lastSeenAt: null });
    const { createdAt } = await fixture.app.stores.jobs.find("b1");
    expect(second[1]?.data).to.deep.include({ lastSeenAt: createdAt.toISOString() });
  });
});

describe("notify: expected jobs after an outage", () => {
  let fixture: NotifyFixture;
  before(async () => {
    fixture = await NotifyFixture.start([{ id: "hook", on: ["job.missing"], to: toWebhook() }], {
      expect: [{ id: "hourly", name: "sync", every: "1h" }],
      jobs: { staleAfterSeconds: STALE_AFTER_SECONDS },
    });
  });
  after(() => fixture.close());

  it("are missing once, and only after one more stale period", async () => {
    const { expectations } = fixture.app.database.collections;
    await eventually(() => expectations.findOne({ _id: "hourly" }), "the beginning of the expectation");
    await fixture.stopWorker();
    fixture.app.clock.advance(5 * 3_600_000);
    await fixture.startWorker();
    await fixture.scanned();
    const atOnce = await fixture.bodies("hook");

    fixture.app.clock.advance(32_000);
    await fixture.scanned();

    expect(atOnce).to.deep.equal([]);
    expect(await fixture.bodies("hook")).to.have.length(1);
  });
});
