import { expect } from "chai";
import { acceptRun, createJob } from "../support/factories.ts";
import { endRun } from "../support/waiting.ts";
import { useShortBackoff } from "./shortBackoff.ts";
import { useWaits } from "./useWaits.ts";

describe("signalbox/client waits", () => {
  useShortBackoff();
  const { app, recording, isWaiting } = useWaits();

  it("jobs.wait: returns the ended job with its output, by one request that waits at the service", async () => {
    const { jobId, path } = await createJob(app);
    const { client, requests } = recording();
    const waited = client.jobs.wait(jobId);
    await isWaiting();

    await app.call("PUT", path, { status: "completed", output: { rows: 7 } });
    const job = await waited;

    expect(job).to.deep.include({ jobId, status: "completed", output: { rows: 7 } });
    expect(requests).to.deep.equal(["wait=25"]);
  });

  it("runs.wait: returns the ended run with its reply", async () => {
    const runId = await acceptRun(app, "s");
    const { client, requests } = recording();
    const waited = client.runs.wait(runId);
    await isWaiting();

    await endRun(app, runId, "All is well.");

    expect(await waited).to.include({ runId, status: "completed", reply: "All is well." });
    expect(requests).to.have.length(1);
  });

  it("return failed records too", async () => {
    const { jobId } = await createJob(app, { status: "failed" });
    const runId = await acceptRun(app, "t");
    await app.stores.runs.cancel(runId);
    const { client } = recording();

    expect((await client.jobs.wait(jobId)).status).to.equal("failed");
    expect((await client.runs.wait(runId)).error?.code).to.equal("cancelled");
  });

  it("end with the reason of the signal, and free their places", async () => {
    const { jobId } = await createJob(app);
    const { client } = recording();
    const stop = new AbortController();
    const waited = client.jobs.wait(jobId, { signal: stop.signal }).catch((thrown) => thrown);
    await isWaiting();

    stop.abort(new Error("not needed any more"));

    expect(await waited).to.have.property("message", "not needed any more");
    await isWaiting(0);
  });

  it("end when the client is closed", async () => {
    const { jobId } = await createJob(app);
    const { client } = recording();
    const waited = client.jobs.wait(jobId).catch((thrown) => thrown);
    await isWaiting();

    await client.close();

    expect(await waited).to.have.property("code", "closed");
    await isWaiting(0);
  });

  it("end when the job is deleted meanwhile", async () => {
    const { jobId, path } = await createJob(app);
    const { client } = recording();
    const waited = client.jobs.wait(jobId).catch((thrown) => thrown);
    await isWaiting();

    await app.call("DELETE", path);

    expect(await waited).to.have.property("code", "job_not_found");
  });
});
