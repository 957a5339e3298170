import { expect } from "chai";
import type { Documents } from "../../../src/models/db/documents.ts";
import { JobStats } from "../../../src/models/figures/jobStats.ts";
import type { JobDoc } from "../../../src/models/jobs/job.ts";
import { systemClock } from "../../../src/shared/clock.ts";
import { eventually } from "../../support/eventually.ts";

/** Counts its calls instead of jobs. Each count takes until it is released. */
function slowCollection() {
  const waiting: (() => void)[] = [];
  let asked = 0;
  const countDocuments = async ({ status, staleAt }: { status?: string; staleAt?: object }) => {
    if (status === "running" && !staleAt) asked++;
    const running = asked;
    await new Promise<void>((resolve) => waiting.push(resolve));
    return running;
  };
  return {
    jobs: {
      collection: { countDocuments } as unknown as Documents<JobDoc>,
    },
    asked: () => asked,
    release: () => {
      for (const go of waiting.splice(0)) go();
    },
  };
}

describe("JobStats", () => {
  it("counts for each call while counting is fast", async () => {
    const { jobs, release } = slowCollection();
    const statistics = new JobStats(jobs, systemClock);

    const first = statistics.read();
    const second = statistics.read();
    release();

    expect((await first).jobs.running).to.equal(1);
    expect((await second).jobs.running).to.equal(2);
  });

  it("caches the result of a slow count for some time", async () => {
    const { jobs, release, asked } = slowCollection();
    const statistics = new JobStats(jobs, systemClock);

    const first = statistics.read();
    const isShared = () => {
      const [one, other] = [statistics.read(), statistics.read()];
      return one === other;
    };
    await eventually(isShared, "the count to serve others");
    const others = [statistics.read(), statistics.read()];
    release();
    const counts = (await Promise.all([first, ...others])).map((counted) => counted.jobs.running);
    const soon = await statistics.read();
    const countedOnce = asked();
    await eventually(() => {
      void statistics.read();
      return asked() > countedOnce;
    }, "another count");
    release();

    expect(new Set(counts).size).to.equal(1);
    expect(soon.jobs.running).to.equal(counts[0]);
  });
});
