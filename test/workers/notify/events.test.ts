import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { agentRequest, createJob, report, whole } from "../../support/factories.ts";
import { NotifyFixture, toLog, toWebhook } from "../../support/notifyFixture.ts";

/** Returns type and status of each event about a job. */
const ofJob = (bodies: readonly { type: string; data: { job: { jobId: string; status: string } } }[], jobId: string) =>
  bodies.filter(({ data }) => data.job.jobId === jobId).map(({ type, data }) => [type, data.job.status]);

describe("notify: the end of a job", () => {
  let fixture: NotifyFixture;
  before(async () => {
    const on = ["job.completed", "job.failed"];
    fixture = await NotifyFixture.start([{ id: "all", on, to: toWebhook() }]);
  });
  after(() => fixture.close());

  const failed = { status: "failed", message: "disk full", failJob: true };
  const completed = { status: "completed", output: { rows: 3 }, ...whole(100) };
  const cases: [title: string, change: (path: string) => Promise<unknown>, expected: string[][]][] = [
    [
      "a report that fails it, once for repeated reports",
      async (path) => {
        await report(fixture.app, path, "a", failed);
        await report(fixture.app, path, "a", failed);
      },
      [["job.failed", "failed"]],
    ],
    [
      "a report that completes it",
      (path) => report(fixture.app, path, "a", completed),
      [["job.completed", "completed"]],
    ],
    [
      "a PUT that fails it, once for repeated ones",
      async (path) => {
        await fixture.app.call("PUT", path, { status: "failed" });
        await fixture.app.call("PUT", path, { status: "failed", message: "again" });
        await report(fixture.app, path, "a", failed);
      },
      [["job.failed", "failed"]],
    ],
    [
      "a PUT that completes it",
      (path) => fixture.app.call("PUT", path, { status: "completed" }),
      [["job.completed", "completed"]],
    ],
    [
      "each end of a job that is started again",
      async (path) => {
        await report(fixture.app, path, "a", failed);
        await fixture.app.call("PUT", path, { status: "running" });
        await report(fixture.app, path, "a", failed);
        await fixture.app.call("PUT", path, { status: "completed" });
      },
      [
        ["job.completed", "completed"],
        ["job.failed", "failed"],
        ["job.failed", "failed"],
      ],
    ],
    [
      "nothing that does not end it",
      async (path) => {
        await report(fixture.app, path, "a", { status: "failed", message: "will be tried again" });
        await report(fixture.app, path, "a", { status: "running", ...whole(50) });
        await fixture.app.call("PUT", path, { message: "still running" });
      },
      [],
    ],
  ];
  for (const [title, change, expected] of cases) {
    it(`is an event of ${title}`, async () => {
      const { jobId, path } = await createJob(fixture.app, { name: "Nightly" });

      await change(path);

      await fixture.dispatched();
      const events = ofJob(await fixture.bodies("all"), jobId);
      expect(events.sort()).to.deep.equal(expected);
    });
  }

  it("is an event of a forced cancellation, with its reason, and not of a request for one", async () => {
    const { jobId, path } = await createJob(fixture.app);
    await fixture.app.call("POST", `${path}/cancel`, { reason: "no longer needed" });
    await fixture.dispatched();
    const requested = ofJob(await fixture.bodies("all"), jobId);

    await fixture.app.call("POST", `${path}/cancel`, { force: true });
    await report(fixture.app, path, "a", failed);

    await fixture.dispatched();
    const bodies = await fixture.bodies("all");
    const found = bodies.find(({ data }) => data.job.jobId === jobId);
    expect(requested).to.deep.equal([]);
    expect(ofJob(bodies, jobId)).to.deep.equal([["job.failed", "failed"]]);
    expect(found.data.reason).to.equal("no longer needed");
    expect(found.data.job.message).to.equal("Cancelled: no longer needed");
  });

  it("is an event of a PUT that creates a job as failed", async () => {
    const jobId = `job-${randomUUID()}`;

    await fixture.app.call("PUT", `/api/jobs/${jobId}`, { status: "failed" });

    await fixture.dispatched();
    expect(ofJob(await fixture.bodies("all"), jobId)).to.deep.equal([["job.failed", "failed"]]);
  });

  it("has the job as it was at that moment, without its payloads", async () => {
    const { jobId, path } = await createJob(fixture.app, { name: "Nightly", input: { a: 1 } });
    await fixture.stopWorker();
    await report(fixture.app, path, "a", failed);
    await fixture.app.call("PUT", path, { status: "running", message: "begun anew" });

    await fixture.startWorker();

    await fixture.dispatched();
    const found = (await fixture.bodies("all")).find(({ data }) => data.job.jobId === jobId);
    expect(Object.keys(found)).to.deep.equal(["type", "timestamp", "data"]);
    expect(found.data.job).to.include({ status: "failed", message: "disk full", name: "Nightly", stale: false });
    expect(found.data.job).not.to.have.any.keys("input", "output", "metadata");
  });

  it("is an event even if the job is deleted at once", async () => {
    const { jobId, path } = await createJob(fixture.app);
    await fixture.stopWorker();
    await report(fixture.app, path, "a", failed);
    const { status } = await fixture.app.call("DELETE", path);
    const again = await createJob(fixture.app);
    await report(fixture.app, again.path, "a", completed);
    await fixture.app.call("DELETE", `/api/jobs?jobId=${again.jobId}`);

    await fixture.startWorker();

    await fixture.dispatched();
    const bodies = await fixture.bodies("all");
    expect(status).to.equal(200);
    expect(ofJob(bodies, jobId)).to.deep.equal([["job.failed", "failed"]]);
    expect(ofJob(bodies, again.jobId)).to.deep.equal([["job.completed", "completed"]]);
  });

  it("is an event of each of 200 jobs that end concurrently, each under one id", async () => {
    const jobs = await Promise.all(Array.from({ length: 200 }, () => createJob(fixture.app, { name: "many" })));

    await Promise.all(jobs.map(({ path }) => report(fixture.app, path, "a", completed)));

    await fixture.dispatched();
    const deliveries = (await fixture.deliveries("all")).filter(({ webhook }) => webhook?.body.includes('"many"'));
    expect(deliveries).to.have.length(200);
    expect(new Set(deliveries.map(({ event }) => event?.id)).size).to.equal(200);
    expect(deliveries.filter(({ event }) => event?.id.includes("."))).to.deep.equal([]);
  });
});

describe("notify: events of runs and deliveries", () => {
  let fixture: NotifyFixture;
  before(async () => {
    const on = ["run.completed", "run.failed", "run.dropped", "delivery.failed"];
    fixture = await NotifyFixture.start([
      { id: "all", on, to: toWebhook({ include: ["reply"] }) },
      { id: "alerts", on: ["delivery.failed"], to: toLog },
    ]);
  });
  after(() => fixture.close());

  const accept = async (more: object = {}) => {
    const _id = randomUUID();
    const run = { _id, name: "triage", sessionKey: `hook:${_id}`, singleUse: true, kind: "agent" as const };
    await fixture.app.stores.runs.accept([{ ...run, mapped: null, request: agentRequest, ...more }]);
    return _id;
  };
  const eventsOf = async (runId: string) =>
    (await fixture.bodies("all")).filter(({ data }) => data.run?.runId === runId);

  it("has the reply of a completed run if the rule includes it", async () => {
    const runId = await accept();

    await fixture.delivered("all", 1);

    const [found] = await eventsOf(runId);
    expect(found.type).to.equal("run.completed");
    expect(found.data.run).to.include({ status: "completed", name: "triage" });
    expect(found.data.run.reply).to.include("x");
  });

  it("has a run that was cancelled as failed, also when it is retried at once", async () => {
    await fixture.stopWorker();
    const runId = await accept();
    await fixture.app.stores.runs.cancel(runId);
    await fixture.app.stores.runs.markFinalized({ _id: runId, round: 0 });
    await fixture.app.stores.runs.retry(runId);

    await fixture.startWorker();

    await fixture.dispatched();
    const [first] = await eventsOf(runId);
    expect(first.type).to.equal("run.failed");
    expect(first.data.run.error.code).to.equal("cancelled");
  });

  it("has each outcome of a mapping that ends the run", async () => {
    const { runs } = fixture.app.stores;
    const mapped = { mapping: "ci", call: "{}", wakeMode: "now" as const };
    const accepted = [];
    await fixture.stopWorker();
    for (let i = 0; i < 3; i++) accepted.push(await accept({ mapped, request: null }));
    const [dropped = "", failed = "", woken = ""] = accepted;
    await runs.applyMapping(dropped, 0, { kind: "dropped" });
    await runs.applyMapping(failed, 0, { kind: "failed", error: { code: "mapping_failed", message: "no" } });
    await runs.applyMapping(woken, 0, { kind: "event", name: "x" });

    await fixture.startWorker();

    await fixture.dispatched();
    const types = await Promise.all(accepted.map(async (runId) => (await eventsOf(runId)).map(({ type }) => type)));
    expect(types).to.deep.equal([["run.dropped"], ["run.failed"], ["run.completed"]]);
  });

  it("has a delivery that fails, but none that carries such an event", async () => {
    const _id = randomUUID();
    const reply = { _id, runId: null, channel: "telegram", to: "anna", text: "x" };

    await fixture.app.stores.deliveries.add({ ...reply, fault: "The channel telegram is not configured." });

    await fixture.delivered("alerts", 1);
    const found = (await fixture.bodies("all")).filter(({ data }) => data.delivery);
    expect(found.map(({ data }) => data.delivery.deliveryId)).to.deep.equal([_id]);
    expect(found[0].data.delivery).to.include({ channel: "telegram", state: "failed" });
    const texts = (await fixture.deliveries("alerts")).map(({ text }) => text);
    expect(texts[0]).to.equal("A delivery to **telegram** failed.\n\nThe channel telegram is not configured\\.");
  });

  it("has no delivery that carries such an event itself", async () => {
    const { deliveries } = fixture.app.stores;
    const event = { id: "e", type: "delivery.failed" as const, rule: "alerts" };
    const alert = { runId: null, channel: "telegram", to: "carl", text: "x", event };

    await deliveries.add({ ...alert, _id: "at-once", fault: "The channel telegram is not configured." });
    await deliveries.add({ ...alert, _id: "later", fault: null });
    await deliveries.failAllTo({ channel: "telegram", to: "carl" }, "Nobody is there.");
    await deliveries.add({ ...alert, _id: "held", fault: null });
    const until = new Date(fixture.app.clock.now().getTime() + 60_000);
    await deliveries.acquire("held", "token", until);
    const isOurs = await deliveries.end("held", "token", "failed", "Nobody is there.");

    const ended = await deliveries.collection.native.find({ to: "carl" }).toArray();
    expect(isOurs).to.equal(true);
    expect(ended.map(({ state, notes }) => [state, notes])).to.deep.equal(Array(3).fill(["failed", undefined]));
    const announced = (await fixture.bodies("all")).map(({ data }) => data.delivery?.deliveryId);
    for (const deliveryId of ["at-once", "later", "held"]) expect(announced).to.not.include(deliveryId);
  });

  it("has every delivery of a lane that fails at once, and one retried by hand again", async () => {
    const { deliveries } = fixture.app.stores;
    const ids = [randomUUID(), randomUUID()];
    await fixture.stopWorker();
    for (const _id of ids) {
      await deliveries.add({ _id, runId: null, channel: "signal", to: "bert", text: "x", fault: null });
    }
    await deliveries.failAllTo({ channel: "signal", to: "bert" }, "Nobody is there.");
    fixture.app.clock.advance(1_000);
    await deliveries.retry(ids[0] as string, "bert");
    await deliveries.failAllTo({ channel: "signal", to: "bert" }, "Nobody is there.");

    await fixture.startWorker();

    await fixture.dispatched();
    const failed = (await fixture.bodies("all")).flatMap(({ data }) => data.delivery?.deliveryId ?? []);
    expect(ids.map((id) => failed.filter((one) => one === id).length)).to.deep.equal([2, 1]);
  });
});

describe("notify: callbacks", () => {
  let fixture: NotifyFixture;
  before(async () => {
    const outbound = { allowedHosts: ["ci.example.com"], secret: `whsec_${Buffer.alloc(32, 1).toString("base64")}` };
    fixture = await NotifyFixture.start([], { outbound, server: { publicUrl: "https://jobs.example.com" } });
  });
  after(() => fixture.close());

  it("has the end of a job and of a run for their callbackUrl, and of no others", async () => {
    const callbackUrl = "https://ci.example.com/done";
    const { stores } = fixture.app;
    await stores.jobs.put("with", { callbackUrl });
    await stores.jobs.put("without", {});
    await stores.jobs.put("cleared", { callbackUrl });
    await stores.jobs.put("cleared", { callbackUrl: null });
    for (const jobId of ["with", "without", "cleared"]) await stores.jobs.put(jobId, { status: "completed" });
    const _id = randomUUID();
    const run = { _id, name: null, sessionKey: "s", singleUse: true, kind: "agent" as const, mapped: null };
    await stores.runs.accept([{ ...run, request: agentRequest, callbackUrl }]);

    const deliveries = await fixture.delivered(null, 2);

    const bodies = await fixture.bodies(null);
    expect(bodies.map(({ data }) => data.job?.jobId ?? data.run?.runId)).to.have.members(["with", _id]);
    expect(bodies.map(({ data }) => data.url)).to.have.members([
      "https://jobs.example.com/jobs/with",
      `https://jobs.example.com/runs/${_id}`,
    ]);
    expect(deliveries.map(({ webhook, to, kind }) => [webhook?.url, to, kind])).to.deep.equal([
      [callbackUrl, "ci.example.com", "webhook"],
      [callbackUrl, "ci.example.com", "webhook"],
    ]);
    const untouched = await fixture.app.database.collections.jobs.findOne({ jobId: "without" });
    expect(untouched).not.to.have.any.keys("notes", "callbackUrl");
  });
});
