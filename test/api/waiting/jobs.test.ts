import { expect } from "chai";
import { stub } from "sinon";
import type { TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob, report, whole } from "../../support/factories.ts";
import { startFollowingApp, startWait } from "../../support/waiting.ts";

describe("GET /api/jobs/:jobId with Prefer: wait", () => {
  let app: TestApp;
  before(async () => {
    app = await startFollowingApp();
  });
  after(() => app.close());

  const get = (path: string, headers: Record<string, string> = {}) => app.call("GET", path, undefined, headers);
  const etagOf = async (path: string) => (await get(path)).headers.get("ETag") ?? "";
  /** Waits for any change since now. */
  const waitForChange = async (path: string) =>
    startWait(app, path, { headers: { "If-None-Match": await etagOf(path) } });

  it("answers when a report has ended the job", async () => {
    const { path } = await createJob(app);
    const { answer } = await startWait(app, path);

    await report(app, path, "load", { ...whole(100), status: "completed", output: { rows: 1 } });
    const { status, body, headers } = await answer;

    expect(status).to.equal(200);
    expect(body).to.deep.include({ status: "completed", progress: 100, output: { rows: 1 } });
    expect(headers.get("Preference-Applied")).to.equal("wait=30");
    expect(headers.get("ETag")).to.equal(await etagOf(path));
    expect(app.waiting()).to.equal(0);
  });

  it("continues to wait when another report arrives, and does not read the job for it", async () => {
    const { path } = await createJob(app);
    const { answer } = await startWait(app, path);
    const first = await waitForChange(path);
    await report(app, path, "load", whole(10));
    await first.answer; // the process has received all changes so far
    const find = stub(app.stores.jobs, "find").callThrough();

    const second = await waitForChange(path);
    await report(app, path, "load", whole(50));
    await second.answer;
    const reads = find.callCount;
    find.restore();
    const stillWaiting = app.waiting();
    await app.call("PUT", path, { status: "completed" });

    expect((await answer).body.status).to.equal("completed");
    expect(stillWaiting).to.equal(1);
    // One read for the ETag, and two for the second request: one if the report came before its first.
    expect(reads).to.be.at.most(3);
  });

  it("answers when the job is ended by hand, with the steps that the request asks for", async () => {
    const { path } = await createJob(app);
    await report(app, path, "load", { progress: 10 });
    const { answer } = await startWait(app, `${path}?include=steps&stepKey=load`);

    await app.call("PUT", path, { status: "failed" });
    const { body } = await answer;

    expect(body.status).to.equal("failed");
    expect(body.steps).to.have.length(1);
    expect(body.step).to.include({ stepKey: "load", progress: 10 });
  });

  it("answers at once when the job has ended already", async () => {
    const { path } = await createJob(app, { status: "completed" });

    const { status, headers } = await get(path, { Prefer: "wait=30" });

    expect(status).to.equal(200);
    expect(headers.get("Preference-Applied")).to.equal("wait=30");
  });

  for (const [title, withETag] of [
    ["without an ETag", false],
    ["with an ETag", true],
  ] as const) {
    it(`answers 404 when the job is deleted meanwhile, ${title}`, async () => {
      const { path } = await createJob(app);
      const { answer } = withETag ? await waitForChange(path) : await startWait(app, path);

      await app.call("DELETE", path);
      const { status, body } = await answer;

      expect([status, body.code]).to.deep.equal([404, "job_not_found"]);
      expect(app.waiting()).to.equal(0);
    });
  }

  it("answers 404 at once for a job that does not exist", async () => {
    expect((await get("/api/jobs/nobody", { Prefer: "wait=30" })).status).to.equal(404);
  });

  describe("and If-None-Match", () => {
    it("answers when a step is reported on", async () => {
      const { path } = await createJob(app);
      const { answer } = await waitForChange(path);

      await report(app, path, "load", { progress: 20, message: "2 of 10" });
      const { status, body, headers } = await answer;

      expect(status).to.equal(200);
      expect(body).to.include({ status: "running", message: "2 of 10" });
      expect(body.currentStep).to.include({ stepKey: "load", progress: 20 });
      expect(headers.get("ETag")).to.equal(await etagOf(path));
    });

    it("answers when a field changes that no step sets", async () => {
      const { path } = await createJob(app);
      const { answer } = await waitForChange(path);

      await app.call("PUT", path, { metadata: { team: "data" } });

      expect((await answer).body.metadata).to.deep.equal({ team: "data" });
    });

    const ofChildren: [change: string, apply: (child: string, parent: string) => Promise<unknown>, children: object][] =
      [
        ["is created", (_, parentJobId) => createJob(app, { parentJobId }), { running: 2 }],
        [
          "joins it",
          async (_, parentJobId) => app.call("PUT", (await createJob(app)).path, { parentJobId }),
          { running: 2 },
        ],
        ["leaves it", (child) => app.call("PUT", child, { parentJobId: null }), { running: 0 }],
        ["joins another job", (child) => app.call("PUT", child, { parentJobId: "another" }), { running: 0 }],
        ["is ended by hand", (child) => app.call("PUT", child, { status: "failed" }), { failed: 1 }],
        ["is cancelled by force", (child) => app.call("POST", `${child}/cancel`, { force: true }), { failed: 1 }],
        [
          "is completed by a report",
          (child) => report(app, child, "load", { ...whole(100), status: "completed", output: {} }),
          { completed: 1 },
        ],
        ["is deleted", (child) => app.call("DELETE", child), { running: 0 }],
      ];
    for (const [title, apply, children] of ofChildren) {
      it(`answers when a child of the job ${title}`, async () => {
        const { jobId, path } = await createJob(app);
        const child = await createJob(app, { parentJobId: jobId });
        const { answer } = await waitForChange(path);

        await apply(child.path, jobId);
        const { status, body } = await answer;

        expect(status).to.equal(200);
        expect(body.children).to.deep.include(children);
      }).timeout(20_000); // shorter than the wait, after which the answer would be the same
    }

    it("answers at once when the job has changed already", async () => {
      const { path } = await createJob(app);

      const { status, body } = await get(path, { Prefer: "wait=30", "If-None-Match": '"of-another-state"' });

      expect([status, body.status]).to.deep.equal([200, "running"]);
    });

    it("answers when the job becomes stale, without any write", async () => {
      const { path } = await createJob(app, { staleAfterSeconds: 100 });
      const etag = await etagOf(path);
      app.clock.advance(99_900);

      const { status, body } = await get(path, { Prefer: "wait=30", "If-None-Match": etag });

      expect([status, body.stale]).to.deep.equal([200, true]);
    });
  });

  it("also holds a HEAD request", async () => {
    const { path } = await createJob(app);
    const { answer } = await startWait(app, path, { method: "HEAD" });

    await app.call("PUT", path, { status: "completed" });
    const { status, headers } = await answer;

    expect([status, headers.get("Preference-Applied")]).to.deep.equal([200, "wait=30"]);
    expect(headers.get("ETag")).to.equal(await etagOf(path));
  });

  it("is not counted in the durations of requests", async () => {
    const { path } = await createJob(app);
    const count = async () =>
      (await get("/metrics")).body.match(
        /duration_seconds_count{method="GET",route="\/api\/jobs\/:jobId",.*} (\d+)/,
      )?.[1];
    await get(path);
    await eventually(async () => (await count()) !== undefined, "a request to be counted");
    const before = await count();

    await get(path, { Prefer: "wait=1" });
    await get(path);
    await eventually(async () => (await count()) !== before, "the next request to be counted");

    expect(Number(await count())).to.equal(Number(before) + 1);
  });
});
