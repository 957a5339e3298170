import { expect } from "chai";
import { KnownJobs } from "../../src/models/knownJobs.ts";
import type { JobState } from "../../src/models/reportedJob.ts";

const job = (jobId: string, status: JobState["status"] = "running") => ({ jobId, status }) as JobState;

describe("the jobs that a process knows", () => {
  it("are those that it has reported on last, 500 at least, and 1,000 at most", () => {
    const known = new KnownJobs();

    for (let i = 0; i < 5_250; i++) {
      known.keep(job(`job-${i}`));
      known.keep(job("again and again"));
    }
    const kept = Array.from({ length: 5_250 }, (_, i) => known.get(`job-${i}`) !== undefined);

    expect(kept.slice(-499)).to.not.include(false);
    expect(kept.filter(Boolean)).to.have.length.at.most(1_000);
    expect(known.get("again and again")).to.deep.equal(job("again and again"));
  });

  it("are not those that have ended, were changed otherwise, or that somebody else changes", () => {
    const known = new KnownJobs();
    for (const name of ["ended", "changed", "shared"]) known.keep(job(name));

    known.keep(job("ended", "completed"));
    known.forget("changed");
    known.share("shared");
    known.keep(job("shared"));

    expect(["ended", "changed", "shared"].map((name) => known.get(name))).to.deep.equal([
      undefined,
      undefined,
      undefined,
    ]);
  });

  it("are known again once they are reported on", () => {
    const known = new KnownJobs();
    known.keep(job("changed"));
    known.forget("changed");

    known.keep(job("changed"));

    expect(known.get("changed")).to.deep.equal(job("changed"));
  });
});
