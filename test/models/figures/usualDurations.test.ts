import { expect } from "chai";
import { startApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { useApp } from "../../support/useApp.ts";

const MINUTE_MS = 60_000;
const isAbout = (value: number, expected: number) => expect(value / expected).to.be.within(0.95, 1.05);

describe("usual durations of jobs", () => {
  const app = useApp();

  const put = async (jobId: string, body: object) => (await app.call("PUT", `/api/jobs/${jobId}`, body)).body;
  const read = async (jobId: string) => (await app.call("GET", `/api/jobs/${jobId}`)).body;
  const end = (jobId: string, status = "completed") =>
    put(jobId, { status, ...(status === "completed" && { output: {} }) });
  /** Runs a job for some minutes. */
  const run = async (jobId: string, minutes: number, status?: string) => {
    await put(jobId, { name: "Import" });
    app.clock.advance(minutes * MINUTE_MS);
    await end(jobId, status);
  };
  /** Waits until the durations of a number of jobs are stored, and the cache has expired. */
  const stored = (count: number) =>
    eventually(async () => {
      app.clock.advance(11_000);
      return (await read("job-0")).usual?.count === count;
    }, "the durations to be stored");

  it("shows them from the fifth completed job on, without failed ones", async () => {
    for (let i = 0; i < 4; i++) await run(`job-${i}`, 10);
    await run("failed", 100, "failed");
    expect(await read("job-0")).to.include({ usual: null, expectedEndAt: null });
    await run("job-4", 20);
    await stored(5);
    const { createdAt, usual, expectedEndAt } = await put("next", { name: "Import" });
    isAbout(usual.p50Ms, 10 * MINUTE_MS);
    isAbout(usual.p95Ms, 20 * MINUTE_MS);
    expect(Date.parse(expectedEndAt) - Date.parse(createdAt)).to.equal(usual.p50Ms);
    expect(await put("other", { name: "Export" })).to.include({ usual: null, expectedEndAt: null });
    expect((await end("next")).expectedEndAt).to.equal(null);
    app.clock.advance(62 * 86_400_000);
    expect(await put("later", { name: "Import" })).to.include({ usual: null, expectedEndAt: null });
  });

  it("leaves out the time for which a job waits, and the time before it was started again", async () => {
    const open = (jobId: string, key: string) =>
      app.call("PUT", `/api/jobs/${jobId}/gates/${key}`, { title: "Go on?" });
    const answer = (jobId: string, key: string) =>
      app.call("POST", `/api/jobs/${jobId}/gates/${key}/answer`, { action: "accept" });
    for (let i = 0; i < 5; i++) {
      const jobId = `job-${i}`;
      await run(jobId, 500, "failed");
      app.clock.advance(500 * MINUTE_MS);
      await put(jobId, { status: "running" });
      app.clock.advance(5 * MINUTE_MS);
      await open(jobId, "a");
      app.clock.advance(100 * MINUTE_MS);
      await open(jobId, "b");
      await answer(jobId, "a");
      expect(await read(jobId)).to.include({ expectedEndAt: null });
      app.clock.advance(100 * MINUTE_MS);
      await answer(jobId, "b");
      app.clock.advance(5 * MINUTE_MS);
      await open(jobId, "unanswered");
      app.clock.advance(100 * MINUTE_MS);
      await end(jobId);
    }
    await stored(5);
    isAbout((await read("job-0")).usual.p50Ms, 10 * MINUTE_MS);
  });

  it("gives a job one ETag in all processes, so that no client alternates between them", async () => {
    for (let i = 0; i < 5; i++) await run(`job-${i}`, 10);
    await app.settled();
    await put("next", { name: "Import" });
    const second = await startApp({ mongo: app.mongoUri });
    const read = (headers?: Record<string, string>) => second.call("GET", "/api/jobs/next", undefined, headers);
    second.clock.advance(50 * MINUTE_MS);
    const cached = await read();
    await run("job-5", 0);
    await app.settled();

    const first = await app.call("GET", "/api/jobs/next", undefined, { "If-None-Match": '"other"' });
    const known = first.headers.get("ETag") ?? "";
    const { status } = await read({ "If-None-Match": known });
    await second.close();

    expect([cached.body.usual?.count, first.body.usual?.count]).to.deep.equal([5, 6]);
    expect(status).to.equal(304);
  });
});
