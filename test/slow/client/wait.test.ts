import { expect } from "chai";
import { RestartingApp } from "../../client/restarting.ts";
import { useShortBackoff } from "../../client/shortBackoff.ts";
import { useWaits } from "../../client/useWaits.ts";
import { startApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";

describe("signalbox/client waits", () => {
  useShortBackoff();
  const { app, recording, isWaiting } = useWaits();

  it("continue through a restart of the service, and report the errors", async () => {
    const restarting = await RestartingApp.start();
    const { jobId, path } = await createJob(await restarting.app);
    const errors: unknown[] = [];
    const { client } = recording(restarting.url, { onError: (error) => errors.push(error) });
    const waited = client.jobs.wait(jobId);
    const before = await restarting.app;
    await eventually(() => before.waiting() === 1, "the request to wait");

    await restarting.restart();
    const after = await restarting.app;
    await eventually(() => after.waiting() === 1, "the next request to wait");
    await after.call("PUT", path, { status: "completed" });

    expect((await waited).status).to.equal("completed");
    for (const error of errors) expect(error).to.have.property("isTransient", true);
    await restarting.close();
  });

  it("end with the error when the service is unavailable for longer than retryForMs", async () => {
    const gone = await startApp();
    await gone.close();
    const { client } = recording(gone.url, { retryForMs: 50 });

    const error = await client.jobs.wait("a").catch((thrown) => thrown);

    expect(error).to.have.property("code", "unreachable");
  });

  it("ask again once a second, and no more often, when the service lets no request wait", async () => {
    const none = await startApp({ config: "{ server: { maxWaiting: 0 } }" });
    const { jobId, path } = await createJob(none);
    const { client, requests } = recording(none.url);
    const startedAt = performance.now();
    const waited = client.jobs.wait(jobId);
    await eventually(() => requests.length === 2, "the second request");
    const secondAt = performance.now();
    await none.call("PUT", path, { status: "completed" });

    expect((await waited).status).to.equal("completed");
    expect(secondAt - startedAt).to.be.at.least(990);
    await none.close();
  });

  it("may take longer than the time limit of other requests", async () => {
    const { jobId, path } = await createJob(app);
    const { client, requests } = recording(app.url, { timeoutMs: 100 });
    const waited = client.jobs.wait(jobId);
    await isWaiting();
    const since = performance.now();
    await eventually(() => performance.now() - since > 300, "more than the time limit");

    await app.call("PUT", path, { status: "completed" });

    expect((await waited).status).to.equal("completed");
    expect(requests).to.have.length(1);
  });
});
