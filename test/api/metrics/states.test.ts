import { expect } from "chai";
import { Metrics } from "../../../src/api/metrics/metrics.ts";
import { version } from "../../../src/shared/process/version.ts";
import type { TestApp } from "../../support/app.ts";
import { createJob } from "../../support/factories.ts";
import { useSharedApp } from "../../support/useApp.ts";

const HOOK = "a-hook-token-of-length";
const read = async (app: TestApp): Promise<string[]> => (await app.call("GET", "/metrics")).body.split("\n");

describe("GET /metrics", () => {
  const app = useSharedApp({
    config: `{ hooks: { enabled: true, token: "${HOOK}", mappings: [{ match: { path: "ci" } }] } }`,
  });

  it("has series of the value 0 before the first event, and the version", async () => {
    const lines = await read(app);

    for (const series of [
      'signalbox_jobs_total{outcome="created"}',
      'signalbox_jobs_total{outcome="failed"}',
      'signalbox_reports_total{status="failed"}',
      'signalbox_refused_requests_total{reason="rate_limited"}',
      'signalbox_hooks_accepted_total{hook="agent"}',
      'signalbox_hooks_accepted_total{hook="ci"}',
    ]) {
      expect(lines).to.include(`${series} 0`);
    }
    expect(lines).to.include(`signalbox_build_info{version="${version}",node="${process.versions.node}"} 1`);
  });
});

describe("GET /metrics with jobs", () => {
  const app = useSharedApp();

  it("has the number of running, completed, failed and stale jobs", async () => {
    await createJob(app, { status: "completed" });
    await createJob(app, { status: "failed" });
    await createJob(app);
    const silent = await createJob(app);
    await app.stores.jobs.collection.native.updateOne(
      { jobId: silent.jobId },
      { $set: { staleAt: new Date(0), staleMinute: new Date(0) } },
    );

    const lines = await read(app);

    for (const [state, count] of Object.entries({ running: 2, completed: 1, failed: 1, stale: 1 })) {
      expect(lines).to.include(`signalbox_jobs{state="${state}"} ${count}`);
    }
  });
});

describe("the number of jobs by state", () => {
  const states = async (metrics: Metrics) =>
    (await metrics.registry.metrics()).split("\n").filter((line) => line.startsWith("signalbox_jobs{"));

  it("is absent while the count fails", async () => {
    const lastHour = { created: 0, completed: 0, failed: 0 };
    const jobs = { total: 3, running: 1, completed: 1, failed: 1, stale: 0 };
    let isAway = false;
    const countJobs = async () => {
      if (isAway) throw new Error("MongoDB is away");
      return { jobs, lastHour, capped: false, usageLastHour: null };
    };
    const metrics = new Metrics(undefined, undefined, undefined, undefined, countJobs);

    const before = await states(metrics);
    isAway = true;
    const during = await states(metrics);

    expect(before).to.have.length(4);
    expect(during).to.deep.equal([]);
  });
});
