import { expect } from "chai";
import type { TestApp } from "../../../support/app.ts";
import { createJob, report } from "../../../support/factories.ts";
import { startFollowingApp } from "../../../support/waiting.ts";

describe("GET /api/jobs/:jobId with Prefer: wait", () => {
  let app: TestApp;
  before(async () => {
    app = await startFollowingApp();
  });
  after(() => app.close());

  const get = (path: string, headers: Record<string, string> = {}) => app.call("GET", path, undefined, headers);
  const etagOf = async (path: string) => (await get(path)).headers.get("ETag") ?? "";

  it("answers with the job as it is when the time is up", async () => {
    const { path } = await createJob(app);

    const { status, body, headers } = await get(path, { Prefer: "wait=1" });

    expect([status, body.status, headers.get("Preference-Applied")]).to.deep.equal([200, "running", "wait=1"]);
  });

  describe("and If-None-Match", () => {
    it("answers 304 when nothing has changed and the time is up", async () => {
      const { path } = await createJob(app);
      const etag = await etagOf(path);

      const { status, body, headers } = await get(path, { Prefer: "wait=1", "If-None-Match": etag });

      expect([status, body, headers.get("ETag")]).to.deep.equal([304, "", etag]);
      expect(headers.get("Preference-Applied")).to.equal("wait=1");
    });

    it("answers when one of the steps of an ended job becomes stale", async () => {
      const { path } = await createJob(app, { staleAfterSeconds: 100 });
      await report(app, path, "load", { progress: 10 });
      await app.call("PUT", path, { status: "failed" });
      const etag = await etagOf(`${path}?include=steps`);
      app.clock.advance(99_900);

      const { status, body } = await get(`${path}?include=steps`, { Prefer: "wait=30", "If-None-Match": etag });

      expect(status).to.equal(200);
      expect([body.stale, body.steps[0].stale]).to.deep.equal([false, true]);
    });
  });
});
