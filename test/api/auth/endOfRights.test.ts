import { expect } from "chai";
import sinon from "sinon";
import { bearer, type TestApp } from "../../support/app.ts";
import { openEvents } from "../../support/eventSource.ts";
import { eventually } from "../../support/eventually.ts";
import { startFollowingApp, startWait } from "../../support/waiting.ts";

const API = "an-api-token-of-length";
const SOON = "the-token-that-ends-in-an-hour";
const HOUR = 3_600_000;

describe("what began under a right", () => {
  let app: TestApp;
  const as = (token: string, method: string, path: string, body?: unknown) =>
    app.call(method, path, body, bearer(token));
  beforeEach(async () => {
    const expiresAt = new Date(Date.now() + HOUR).toISOString();
    const tokens = [{ name: "soon", token: SOON, scopes: ["jobs:read"], expiresAt }];
    app = await startFollowingApp({ config: JSON.stringify({ server: { apiToken: API, tokens } }) });
    await app.stores.jobs.put("a", {});
  });
  afterEach(() => app.close());

  const jobToken = async (): Promise<string> =>
    (await as(API, "POST", "/api/jobs/a/token", { scope: "report" })).body.token;
  /** Deletes the job, and creates another one under its id, with a step. */
  const replaceJob = async () => {
    await app.stores.jobs.collection.native.deleteOne({ jobId: "a" });
    await as(API, "PUT", "/api/jobs/a", { name: "SECRET" });
    await as(API, "PUT", "/api/jobs/a/steps/s", { stepName: "SECRET", message: "SECRET" });
  };

  for (const path of ["/api/jobs/a/events", "/api/events"]) {
    it(`ends with the deletion of the job of a job token: ${path}`, async () => {
      const events = await openEvents(app.url + path, bearer(await jobToken()));

      await as(API, "DELETE", "/api/jobs/a");

      await events.next("job_removed");
      await eventually(() => events.isOver(), "the end of the stream");
    });

    it(`shows nothing of another job that is created under its id, even where the deletion went unnoticed: ${path}`, async () => {
      const ofAdmin = await openEvents(`${app.url}/api/jobs/a/events`, bearer(API));
      const events = await openEvents(app.url + path, bearer(await jobToken()));

      await replaceJob();

      await ofAdmin.next("step");
      await eventually(() => events.isOver(), "the end of the stream");
      expect(JSON.stringify(events.events)).to.not.include("SECRET");
      ofAdmin.close();
    });
  }

  it("ends with the deletion of the job: a wait is 401 for another job under its id", async () => {
    const reads = sinon.spy(app.stores.jobs, "find");
    const { answer } = await startWait(app, "/api/jobs/a", { headers: bearer(await jobToken()) });
    await eventually(() => reads.called, "the first read of the wait"); // between the two writes it would find no job
    await reads.lastCall.returnValue;

    await app.stores.jobs.collection.native.deleteOne({ jobId: "a" });
    await as(API, "PUT", "/api/jobs/a", { name: "SECRET", status: "failed" });

    const { status, body } = await answer;
    expect([status, body.code]).to.deep.equal([401, "unauthorized"]);
    expect(JSON.stringify(body)).to.not.include("SECRET");
    reads.restore();
  });

  it("ends with the log-out: a wait is 401", async () => {
    const { headers } = await app.call("POST", "/session", { token: API });
    const cookie = { Cookie: headers.get("Set-Cookie")?.split(";")[0] as string };
    const { answer } = await startWait(app, "/api/jobs/a", { headers: cookie });

    await app.call("DELETE", "/session", undefined, cookie);
    await as(API, "PUT", "/api/jobs/a", { status: "failed" });

    expect((await answer).status).to.equal(401);
  });

  it("ends with the time of the token: a stream shows no later change", async () => {
    const ofAdmin = await openEvents(`${app.url}/api/events`, bearer(API));
    const events = await openEvents(`${app.url}/api/events`, bearer(SOON));

    app.clock.advance(HOUR + 1_000);
    await as(API, "PUT", "/api/jobs/a", { name: "SECRET" });

    await ofAdmin.next("job", ({ name }) => name === "SECRET");
    await eventually(() => events.isOver(), "the end of the stream");
    expect(JSON.stringify(events.events)).to.not.include("SECRET");
    ofAdmin.close();
  });
});
