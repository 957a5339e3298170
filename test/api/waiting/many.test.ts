import { expect } from "chai";
import type { TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { acceptRun, createJob } from "../../support/factories.ts";
import { startFollowingApp, startWait } from "../../support/waiting.ts";
import { Clients } from "./clients.ts";

/** `server.maxWaiting`, a tenth of its default. */
const COUNT = 100;

describe("many requests with Prefer: wait", () => {
  let app: TestApp;
  let clients: Clients;

  beforeEach(async () => {
    app = await startFollowingApp({ config: `{ server: { maxWaiting: ${COUNT} } }` });
    clients = new Clients();
  });
  afterEach(async () => {
    clients.leave();
    await app.close();
  });
  const isWaiting = (count: number) => eventually(() => app.waiting() === count, `${count} requests to wait`);

  it("are answered at once beyond the limit, and free their places when their clients leave", async () => {
    const paths = await Promise.all(Array.from({ length: 50 }, async () => (await createJob(app)).path));
    const answers = Array.from({ length: COUNT }, (_, i) => clients.get(app.url + paths[i % paths.length]));
    const failures = Promise.allSettled(answers);
    await isWaiting(COUNT);

    const beyond = await app.call("GET", paths[0] ?? "", undefined, { Prefer: "wait=60" });
    clients.leave();
    await isWaiting(0);
    const { answer } = await startWait(app, paths[0] ?? "");
    await app.call("PUT", paths[0] ?? "", { status: "failed" });

    expect([beyond.status, beyond.body.status]).to.deep.equal([200, "running"]);
    expect(beyond.headers.get("Preference-Applied")).to.equal(null);
    expect((await answer).headers.get("Preference-Applied")).to.equal("wait=30");
    expect(new Set((await failures).map(({ status }) => status))).to.deep.equal(new Set(["rejected"]));
  });

  it("are answered with the state of that moment when the process stops", async () => {
    const stopping = await startFollowingApp({
      config: `{ hooks: { enabled: true, token: "a-hook-token-of-length" } }`,
    });
    const { path } = await createJob(stopping);
    const runId = await acceptRun(stopping, "s");
    const etag = (await stopping.call("GET", path)).headers.get("ETag") ?? "";
    const hook = { Authorization: "Bearer a-hook-token-of-length" };
    const waiting = [
      await startWait(stopping, path),
      await startWait(stopping, path, { headers: { "If-None-Match": etag } }),
      await startWait(stopping, `/api/runs/${runId}`),
      await startWait(stopping, "/hooks/agent", { method: "POST", body: { message: "Hello" }, headers: hook }),
    ];

    await stopping.close();
    const [job, unchanged, run, accepted] = await Promise.all(waiting.map(({ answer }) => answer));

    expect([job?.status, job?.body.status]).to.deep.equal([200, "running"]);
    expect(unchanged?.status).to.equal(304);
    expect([run?.status, run?.body.status]).to.deep.equal([200, "queued"]);
    expect([accepted?.status, accepted?.body.ok]).to.deep.equal([202, true]);
    for (const answer of [job, run, accepted]) expect(answer?.headers.get("Connection")).to.equal("close");
  });

  it("take the preference from any of several Prefer headers, and a longer wait counts as 60 seconds", async () => {
    const { path } = await createJob(app);
    const answer = clients.get(app.url + path, { Prefer: ["respond-async", "return=representation, wait=3600"] });
    await isWaiting(1);

    await app.call("PUT", path, { status: "completed" });

    expect((await answer).headers["preference-applied"]).to.equal("wait=60");
  });

  it("never wait with server.maxWaiting 0", async () => {
    const none = await startFollowingApp({ config: "{ server: { maxWaiting: 0 } }" });
    const { path } = await createJob(none);

    const { status, headers } = await none.call("GET", path, undefined, { Prefer: "wait=60" });

    expect([status, headers.get("Preference-Applied")]).to.deep.equal([200, null]);
    await none.close();
  });
});
