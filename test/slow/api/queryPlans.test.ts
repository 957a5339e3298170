import { expect } from "chai";
import { minuteOf } from "../../../src/models/jobs/jobTimes.ts";
import { type JobFilter, jobQuery, olderThan } from "../../../src/models/jobs/search/jobFilter.ts";
import { stagesOf } from "../../support/queryPlan.ts";
import { useSharedApp } from "../../support/useApp.ts";

const JOBS = 100_000;
const PAGE = 100;

/** Returns all subsets of a list, including the empty one. */
const subsets = <T>(list: readonly T[]): T[][] =>
  list.reduce<T[][]>((all, item) => all.concat(all.map((subset) => subset.concat([item]))), [[]]);

describe("lists over 100,000 jobs", () => {
  const app = useSharedApp();
  const now = new Date("2026-06-01T00:00:00Z");
  const minutesAgo = (minutes: number) => new Date(now.getTime() - minutes * 60_000);

  before(async () => {
    const { collection } = app.stores.jobs;
    for (let from = 0; from < JOBS; from += 10_000) {
      await collection.insertMany(Array.from({ length: 10_000 }, (_, i) => job(from + i)) as never, { ordered: false });
    }
  });

  /** Job n was created n minutes ago; the older half has ended. */
  function job(n: number) {
    const status = n < JOBS / 2 ? "running" : n % 10 === 0 ? "failed" : "completed";
    const createdAt = minutesAgo(n);
    const updatedAt = minutesAgo(n - 0.5);
    const staleAt = minutesAgo(n % 100 === 0 ? n - 15 : -15);
    return {
      jobId: `team-${n % 100}/job-${n}`,
      name: `Pipeline ${n % 1_000}`,
      nameKey: `pipeline ${n % 1_000}`,
      nameWords: ["pipeline", `${n % 1_000}`],
      metadataTerms: [`env=${n % 50}`, `owner=${n % 7}`],
      status,
      progress: 0,
      createdAt,
      updatedAt,
      updatedMinute: minuteOf(updatedAt),
      lastReportAt: updatedAt,
      staleAt: status === "running" ? staleAt : null,
      staleMinute: status === "running" ? minuteOf(staleAt) : null,
      endedAt: status === "running" ? null : updatedAt,
      ...(n % 20 === 0 && { cancel: { requestedAt: updatedAt, reason: null } }),
    };
  }

  const conditions: JobFilter[] = [
    { status: ["failed", "completed"] },
    { name: "pipeline 77" },
    { jobId: "team-7/" },
    { metadata: [["env", "7"]] },
    { search: "pipeline 977" },
    { createdFrom: minutesAgo(80_000), createdBefore: minutesAgo(100) },
    { updatedFrom: minutesAgo(90_000), updatedBefore: minutesAgo(50) },
    { stale: true },
    { cancelled: true },
  ];
  const combinations = subsets(conditions).map((subset) => Object.assign({}, ...subset) as JobFilter);

  async function explain(filter: JobFilter, cursor = {}) {
    const query = { $and: [jobQuery(filter, now), cursor] };
    const found = app.stores.jobs.collection.native.find(query).sort({ createdAt: -1, _id: -1 });
    const plan = await found.limit(PAGE + 1).explain("executionStats");
    return { stages: stagesOf(plan.queryPlanner.winningPlan), stats: plan.executionStats };
  }

  it(`are served by an index for each of the ${combinations.length} combinations of filters, on any page`, async () => {
    const middle = { createdAt: minutesAgo(60_000), _id: (await app.stores.jobs.find("team-0/job-60000"))._id };

    for (const filter of combinations) {
      for (const cursor of [{}, olderThan(middle)]) {
        const { stages } = await explain(filter, cursor);
        expect(stages, JSON.stringify(filter)).to.include("IXSCAN").and.to.not.include("COLLSCAN");
      }
    }
  });

  it("examine few documents for a single condition", async () => {
    const looked = [];
    for (const filter of [{}, ...conditions]) {
      const { stats } = await explain(filter);
      looked.push({ filter: Object.keys(filter), documents: stats.totalDocsExamined, rows: stats.nReturned });
    }
    for (const { filter, documents, rows } of looked) {
      expect(documents, filter.join()).to.be.at.most(Math.max(2_000, rows * 2));
    }
  });

  it("search for words anywhere in a name by index, and count what it finds without a scan of all jobs", async () => {
    const searches: [JobFilter, number][] = [
      [{ search: "777" }, 200],
      [{ search: "PIPE 777" }, 200],
      [{ search: "team-7/job-7" }, 2_000],
      [{ search: "pipeline" }, 2_000],
      [{ search: "absent" }, 0],
      [{ search: "777", status: ["failed"] }, 2_000],
    ];
    for (const [filter, documents] of searches) {
      const { stages, stats } = await explain(filter);
      expect(stages, JSON.stringify(filter)).to.include("IXSCAN").and.to.not.include("COLLSCAN");
      expect(stats.totalDocsExamined, JSON.stringify(filter)).to.be.at.most(documents);
    }

    const [rare, frequent] = [
      await app.call("GET", "/api/stats?search=777"),
      await app.call("GET", "/api/stats?search=pipe"),
    ];
    expect(rare.body).to.deep.include({ capped: false });
    expect(rare.body.jobs).to.include({ total: 100, running: 50 });
    expect(frequent.body).to.deep.include({ capped: true });
    expect(frequent.body.jobs.total).to.equal(10_000);
  });

  it("read one page at a time, however many pages precede it", async () => {
    const late = { createdAt: minutesAgo(90_000), _id: (await app.stores.jobs.find("team-0/job-90000"))._id };

    const { stats } = await explain({}, olderThan(late));

    expect(stats.nReturned).to.equal(PAGE + 1);
    expect(stats.totalDocsExamined).to.be.at.most(PAGE + 2);
  });

  it("count for the statistics by index", async () => {
    for (const query of [
      { status: "failed" },
      jobQuery({ stale: true }, now),
      { createdAt: { $gte: minutesAgo(60) } },
    ]) {
      const plan = await app.stores.jobs.collection.native.find(query as never).explain("queryPlanner");
      expect(stagesOf(plan.queryPlanner.winningPlan)).to.include("IXSCAN");
    }
  });
});
