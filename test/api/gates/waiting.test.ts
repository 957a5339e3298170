import { expect } from "chai";
import type { TestApp } from "../../support/app.ts";
import { openEvents } from "../../support/eventSource.ts";
import { createJob, report } from "../../support/factories.ts";
import { startFollowingApp, startWait } from "../../support/waiting.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

describe("waiting for a gate", () => {
  let app: TestApp;
  let path: string;
  let jobId: string;
  before(async () => {
    app = await startFollowingApp();
  });
  after(() => app.close());
  beforeEach(async () => {
    ({ jobId, path } = await createJob(app));
  });
  const gate = () => `${path}/gates/publish`;
  const open = (body: object = {}) => app.call("PUT", gate(), { title: "Publish?", ...body });
  const inMs = (ms: number) => new Date(app.clock.now().getTime() + ms).toISOString();

  it("answers once a person has answered, not when another gate or a step changes", async () => {
    await open();
    const { answer } = await startWait(app, gate());
    await app.call("PUT", `${path}/gates/other`, { title: "Other?" });
    await report(app, path, "load", { message: "half" });
    await app.call("POST", `${path}/gates/other/answer`, { action: "accept" });
    expect(app.waiting()).to.equal(1);
    await app.call("POST", `${gate()}/answer`, { action: "accept", answeredBy: "Ann" });
    const { status, headers, body } = await answer;
    expect([status, headers.get("Preference-Applied")]).to.deep.equal([200, "wait=30"]);
    expect(body).to.include({ status: "answered", answeredBy: "Ann" });
  });

  it("answers at once for a gate that is not open, and 404 when the job is deleted", async () => {
    await open();
    const { answer } = await startWait(app, gate());
    await app.call("DELETE", path);
    expect((await answer).body.code).to.equal("job_not_found");
    await app.call("PUT", path, {});
    await open();
    await app.call("DELETE", gate());
    expect((await app.call("GET", gate(), undefined, { Prefer: "wait=30" })).body.status).to.equal("withdrawn");
  });

  it("answers as soon as cancellation of the job is requested, and at once after that", async () => {
    await open();
    const { answer } = await startWait(app, gate());
    await app.call("POST", `${path}/cancel`, { reason: "Not needed" });
    expect((await answer).body).to.include({ status: "open", cancelRequested: true });
    const again = await app.call("GET", gate(), undefined, { Prefer: "wait=30" });
    expect(again.body).to.include({ status: "open", cancelRequested: true });
    expect((await open()).body.cancelRequested).to.equal(true);
    const listed = await app.call("GET", "/api/gates?status=open");
    expect(listed.body.gates[0]).to.include({ jobId }).and.not.have.property("cancelRequested");
  });

  for (const [how, end] of [
    ["fails", () => report(app, path, "a", { status: "failed", failJob: true })],
    ["completes", () => app.call("PUT", path, { status: "completed" })],
    ["is cancelled by force", () => app.call("POST", `${path}/cancel`, { force: true })],
  ] as const)
    it(`answers as soon as the job ${how}`, async () => {
      await open();
      const { answer } = await startWait(app, gate());
      await end();
      expect((await answer).body).to.include({ status: "withdrawn", action: null });
    });

  it("answers when the gate expires, without a worker", async () => {
    await open({ expiresAt: inMs(700), onExpiry: "cancel" });
    const { answer } = await startWait(app, gate());
    expect((await answer).body).to.include({ status: "expired", action: "cancel" });
  });

  it("sends live events when the job waits, and when it no longer does", async () => {
    const events = await openEvents(`${app.url}/api/jobs/${jobId}/events`, {}, { live: true });
    await open();
    await events.next("job", (job) => job.waitingFor.length === 1 && job.staleAt === null);
    await app.call("POST", `${gate()}/answer`, { action: "decline" });
    await events.next("job", (job) => job.waitingFor.length === 0 && job.staleAt !== null);
    events.close();
  });

  describe("with a worker", () => {
    let worker: TestWorker;
    before(async () => {
      worker = await startWorker(app);
    });
    after(() => worker.close());

    it("ends a gate that nobody reads, soon after its time", async () => {
      const events = await openEvents(`${app.url}/api/jobs/${jobId}/events`, {}, { live: true });
      await open({ expiresAt: inMs(3_600_000) });
      await events.next("job", (job) => job.waitingFor.length === 1);
      await open({ expiresAt: inMs(1_000) }); // Only now, or one event might show the opening and the end.
      await events.next("job", (job) => job.waitingFor.length === 0);
      events.close();
      const stored = await app.stores.gates.collection.native.findOne({ jobId });
      expect(stored).to.include({ status: "expired", action: "decline" });
    });
  });
});
