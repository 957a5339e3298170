import { expect } from "chai";
import { JobNews } from "../../../../../src/cli/commands/jobs/channel/jobNews.ts";
import type { JobSummary } from "../../../../../src/client/client.ts";

const SINCE = new Date("2026-01-31T18:00:00.000Z");
const OLD = "2026-01-31T17:00:00.000Z";
const job = (more: Partial<JobSummary> = {}): JobSummary =>
  ({
    jobId: "a",
    createdAt: OLD,
    updatedAt: OLD,
    status: "running",
    stale: false,
    staleAt: null,
    waitingFor: [],
    ...more,
  }) as JobSummary;

describe("the news of jobs", () => {
  it("are the transitions between two states, each once", () => {
    const news = new JobNews(SINCE);
    const states = [
      job(),
      job({ stale: true }),
      job({ stale: true }),
      job({ waitingFor: ["ask"] }),
      job(),
      job({ status: "failed" }),
      job({ status: "failed" }),
      job(),
      job({ status: "completed" }),
    ];

    const found = states.flatMap((state) => news.take(state)).map(({ event }) => event);

    expect(found).to.deep.equal(["stale", "gate", "failed", "completed"]);
  });

  it("do not come from an event that is older than what was read", () => {
    const news = new JobNews(SINCE);
    const newer = { updatedAt: "2026-01-31T18:00:02.000Z" };
    news.take(job());
    news.take(job(newer));

    expect(news.take(job({ waitingFor: ["ask"], updatedAt: "2026-01-31T18:00:01.000Z" }))).to.deep.equal([]);
    expect(news.take(job(newer))).to.deep.equal([]);
  });

  it("contain no state from before the first one, but the end of a job that was created since", () => {
    const news = new JobNews(SINCE);

    expect(news.take(job({ status: "failed" }))).to.deep.equal([]);
    expect(news.take(job({ jobId: "b", status: "failed", createdAt: "2026-01-31T18:00:01.000Z" }))).to.deep.equal([
      { event: "failed", jobId: "b" },
    ]);
  });

  it("take a job that was made anew under its id for another one", () => {
    const news = new JobNews(SINCE);
    news.take(job({ status: "completed" }));

    expect(news.take(job({ status: "completed", createdAt: "2026-01-31T18:00:01.000Z" }))).to.have.lengthOf(1);
  });

  it("know the jobs whose time without a report is over, and forget the oldest of ten thousand", () => {
    const news = new JobNews(SINCE);
    news.take(job({ staleAt: "2026-01-31T18:10:00.000Z" }));
    expect(news.overdue(new Date("2026-01-31T18:09:00.000Z"))).to.deep.equal([]);
    expect(news.overdue(new Date("2026-01-31T18:11:00.000Z"))).to.deep.equal(["a"]);

    for (let i = 0; i < 10_000; i++) news.take(job({ jobId: `job-${i}` }));

    expect(news.running).to.have.lengthOf(10_000);
    expect(news.running).to.not.include("a");
  });
});
