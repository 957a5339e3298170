import { expect } from "chai";
import { bucketOf, quantile } from "../../../src/models/figures/durations.ts";
import { JobFigures } from "../../../src/models/figures/jobFigures.ts";
import { startApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { logLines } from "../../support/logLines.ts";
import { useApp } from "../../support/useApp.ts";

const HOUR_MS = 3_600_000;
const STEP = { stepName: "S", jobProgressStart: 0, jobProgressEnd: 100 };
const COMPLETION = { ...STEP, status: "completed", progress: 100, output: { ok: true } };
const FAILURE = { ...STEP, status: "failed", failJob: true };

describe("GET /api/stats/history", () => {
  const app = useApp();

  const read = async (query: string) => (await app.call("GET", `/api/stats/history?${query}`)).body;
  const put = (jobId: string, body: object) => app.call("PUT", `/api/jobs/${jobId}`, body);
  const report = (jobId: string, body: object) => app.call("PUT", `/api/jobs/${jobId}/steps/s`, body);
  const totals = ({ periods }: { periods: Record<string, number>[] }) =>
    ["started", "completed", "failed"].map((field) => periods.reduce((sum, one) => sum + (one[field] ?? 0), 0));
  const stored = (expected: number[]) =>
    eventually(async () => String(totals(await read("span=week"))) === String(expected), "the figures to be stored");

  it("counts jobs that start and end in each way once, and keeps the figures when the jobs are deleted", async () => {
    await put("by-report", { name: "Import" });
    await put("by-failure", { name: "Import" });
    await put("by-put", { name: "Export" });
    await put("by-cancel", {});
    app.clock.advance(90_000);
    for (let i = 0; i < 2; i++) {
      await report("by-report", COMPLETION);
      await report("by-failure", FAILURE);
      await put("by-put", { name: "Export", status: "completed", output: {} });
      await app.call("POST", "/api/jobs/by-cancel/cancel", { force: true });
    }
    await app.call("POST", "/api/ping/by-ping/done");
    await stored([5, 3, 2]);
    await app.call("DELETE", "/api/jobs");

    for (const [span, periods, periodSeconds] of [
      ["hour", 12, 300],
      ["day", 24, 3_600],
      ["week", 28, 21_600],
    ] as const) {
      const history = await read(`span=${span}`);
      expect(history).to.include({ span, periodSeconds });
      expect(history.periods).to.have.length(periods);
      expect(totals(history), span).to.deep.equal([5, 3, 2]);
      const [first, second] = history.periods.map(({ start }: { start: string }) => Date.parse(start));
      expect(second - first).to.equal(periodSeconds * 1_000);
    }
    const { names } = await read("");
    expect(names.map((one: object) => ({ ...one, p50Seconds: undefined, p95Seconds: undefined }))).to.deep.equal([
      { name: "Import", started: 2, completed: 1, failed: 1, p50Seconds: undefined, p95Seconds: undefined },
      { name: "Export", started: 1, completed: 1, failed: 0, p50Seconds: undefined, p95Seconds: undefined },
    ]);
    for (const { p50Seconds, p95Seconds } of names) {
      expect(p50Seconds).to.be.within(85, 96);
      expect(p95Seconds).to.be.within(85, 96);
    }
    expect(totals(await read("name=Import&span=week"))).to.deep.equal([2, 1, 1]);
    expect(totals(await read("name=Unknown"))).to.deep.equal([0, 0, 0]);
  });

  it("moves jobs out of the span as time passes", async () => {
    await put("a", { status: "completed" });
    await stored([1, 1, 0]);
    app.clock.advance(2 * HOUR_MS);

    expect(totals(await read("span=hour"))).to.deep.equal([0, 0, 0]);
    expect(totals(await read("span=day"))).to.deep.equal([1, 1, 0]);
    app.clock.advance(25 * HOUR_MS);
    expect(totals(await read("span=day"))).to.deep.equal([0, 0, 0]);
    expect(totals(await read("span=week"))).to.deep.equal([1, 1, 0]);
  });

  it("reads the periods of the span by index", async () => {
    await put("a", { status: "completed" });
    await stored([1, 1, 0]);
    const plan = await app.stores.jobFigures.native
      .find({ seconds: 300, start: { $gte: new Date(0) } })
      .explain("executionStats");

    expect(plan.executionStats).to.include({ totalDocsExamined: 1, nReturned: 1 });
  });

  it("counts a hundred names an hour apart, and the others among all jobs", async () => {
    const { log } = logLines();
    const figures = new JobFigures(app.stores.jobFigures, { clock: app.clock, log, storeEveryMs: 1_000_000 });
    const createdAt = app.clock.now();
    for (let i = 0; i < 120; i++) {
      figures.countStarted({ name: `Job ${i}`, createdAt, endedAt: null, status: "running" });
    }
    await figures.flush();

    expect(await app.stores.jobFigures.countDocuments({ seconds: 300 })).to.equal(101);
    expect(await app.stores.jobFigures.findOne({ seconds: 300, name: null })).to.include({ started: 120 });
    expect((await read("")).names).to.have.length(50);
  });

  it("adds the counts of concurrent processes", async () => {
    const { log } = logLines();
    const processes = Array.from(
      { length: 4 },
      () => new JobFigures(app.stores.jobFigures, { clock: app.clock, log, storeEveryMs: 1_000_000 }),
    );
    const createdAt = app.clock.now();
    for (const one of processes) one.countStarted({ name: "A", createdAt, endedAt: null, status: "running" });
    await Promise.all(processes.map((one) => one.flush()));

    expect(totals(await read("name=A&span=week"))).to.deep.equal([4, 0, 0]);
  });

  it("refuses unknown spans, and tokens that are confined to some jobs", async () => {
    expect(await app.call("GET", "/api/stats/history?span=year")).to.deep.include({ status: 400 });
    const token = "a-token-of-its-own-length";
    const tokens = [{ name: "own", token, scopes: ["jobs:read"], jobs: { idPrefix: "own/" } }];
    const confined = await startApp({
      config: JSON.stringify({ server: { apiToken: "an-api-token-of-length", tokens } }),
    });
    const answer = await confined.call("GET", "/api/stats/history", undefined, { Authorization: `Bearer ${token}` });
    await confined.close();

    expect([answer.status, answer.body.code]).to.deep.equal([403, "forbidden"]);
  });
});

describe("the histogram of durations", () => {
  it("has quantiles within 5 % of the exact ones", () => {
    const durations = Array.from({ length: 2_000 }, (_, i) => Math.exp((i / 2_000) * 18));
    const histogram: Record<string, number> = {};
    for (const ms of durations) histogram[bucketOf(ms)] = (histogram[bucketOf(ms)] ?? 0) + 1;

    for (const share of [0.01, 0.5, 0.95, 1]) {
      const exact = durations[Math.ceil(durations.length * share) - 1] as number;
      expect(quantile(histogram, share)).to.be.within(exact * 0.95, exact * 1.05);
    }
    expect(quantile({}, 0.5)).to.equal(null);
    expect(quantile({ [bucketOf(0)]: 1 }, 0.5)).to.be.within(0, 1);
  });
});
