import { expect } from "chai";
import { withoutConfiguredNames } from "../../../src/api/metrics/metrics.ts";
import { readExpectedJobs } from "../../../src/models/notifications/expectedJobs.ts";
import { WorkerMetrics } from "../../../src/workers/metrics.ts";
import { useSharedApp } from "../../support/useApp.ts";

const EXPECTED = [
  { id: "backup", name: "Nightly backup", every: "1d" },
  { id: "never", name: "Never", every: "1d" },
];

describe("the metrics of expected jobs", () => {
  const app = useSharedApp();

  it("show the last success and whether a job is missing, and keep their values while MongoDB is away", async () => {
    const { stores, clock } = app;
    await stores.jobs.put("a", { name: "Nightly backup of a" });
    clock.advance(90_000);
    await stores.jobs.put("a", { status: "completed" });
    const { endedAt } = await stores.jobs.find("a");
    await stores.jobs.put("b", { name: "Nightly backup of b", status: "failed" });
    for (const { id, name } of EXPECTED) await stores.expectations.begin(id, name);
    const [, never] = await stores.expectations.list();
    if (never) await stores.expectations.missed(never, clock.now());
    let reads = 0;
    let isAway = false;
    const metrics = new WorkerMetrics();
    metrics.addSeries({
      channels: [],
      rules: [],
      readStopped: async () => new Set(),
      readExpected: async () => {
        reads++;
        if (isAway) throw new Error("MongoDB is away");
        return readExpectedJobs(stores, EXPECTED);
      },
    });
    const lines = async () =>
      (await metrics.ownText()).split("\n").filter((line) => line.startsWith("signalbox_expected_job_"));

    const backup = 'expectation="backup",name="Nightly backup"';
    const shown = await lines();
    expect(reads).to.equal(1);
    const duration = shown.find((line) => line.startsWith("signalbox_expected_job_last_duration_seconds"));
    expect(Number(duration?.split(" ").at(-1))).to.be.within(90, 100);
    expect(shown.filter((line) => line !== duration)).to.have.members([
      `signalbox_expected_job_last_success_timestamp_seconds{${backup}} ${Number(endedAt) / 1_000}`,
      `signalbox_expected_job_up{${backup}} 1`,
      'signalbox_expected_job_up{expectation="never",name="Never"} 0',
    ]);
    isAway = true;
    expect(await lines()).to.deep.equal(shown);
    expect(withoutConfiguredNames(shown.join("\n"))).to.equal("");
  });
});
