import { expect } from "chai";
import fc from "fast-check";
import { minuteOf } from "../../../src/models/jobs/jobTimes.ts";
import { type JobFilter, jobQuery, matchesFilter } from "../../../src/models/jobs/search/jobFilter.ts";
import { runs } from "../../support/random.ts";
import { useSharedApp } from "../../support/useApp.ts";

const NOW = new Date("2026-11-21T12:00:00.000Z");
const time = fc.integer({ min: -5, max: 5 }).map((minutes) => new Date(NOW.getTime() + minutes * 60_000));
const STALE_AFTER_SECONDS = 900;
const status = fc.constantFrom("running" as const, "completed" as const, "failed" as const);
const search = fc.constantFrom("import", "IMP", "2 imp", "streets", "straße", "a", "b/1", "e", "é", "--", "- no");
const name = fc.constantFrom(
  "Nightly: Import 2",
  "-- Straße",
  "- no",
  "Import",
  "import 2",
  "IMPORT",
  "export",
  "é",
  "e",
  "ΟΔΟΣ",
  "οδοσα",
  "Straße",
  "STRASS",
);
const jobId = fc.constantFrom("a", "ab", "A", "b/1");
const term = fc.constantFrom(
  ["team", "x"] as const,
  ["team", "y"] as const,
  ["a.b", "1"] as const,
  ["a=b", "c"] as const,
  ["a", "b=c"] as const,
);

const anyJob = fc.record({
  jobId,
  name: fc.option(name),
  metadata: fc.constantFrom(
    {},
    { team: "x" },
    { team: "y", a: { b: 1 } },
    { a: { b: "1" } },
    { "a=b": "c" },
    { a: "b=c" },
  ),
  status,
  createdAt: time,
  updatedAt: time,
  lastReportAt: fc.option(time),
  staleAfterSeconds: fc.option(fc.integer({ min: 1, max: 500 })),
  isCancelRequested: fc.boolean(),
});
const anyFilter: fc.Arbitrary<JobFilter> = fc.record(
  {
    status: fc.uniqueArray(status, { minLength: 1 }),
    name,
    search,
    jobId,
    metadata: fc.array(term, { minLength: 1, maxLength: 2 }),
    createdFrom: time,
    createdBefore: time,
    updatedFrom: time,
    updatedBefore: time,
    stale: fc.boolean(),
    cancelled: fc.boolean(),
  },
  { requiredKeys: [] },
);

function stored({ updatedAt, lastReportAt, ...given }: typeof anyJob extends fc.Arbitrary<infer J> ? J : never) {
  const { status, createdAt, staleAfterSeconds, isCancelRequested } = given;
  const staleAt = new Date((lastReportAt ?? createdAt).getTime() + (staleAfterSeconds ?? STALE_AFTER_SECONDS) * 1_000);
  const isRunning = status === "running";
  return {
    status,
    createdAt,
    lastReportAt,
    staleAfterSeconds,
    updatedAt,
    updatedMinute: minuteOf(updatedAt),
    ...(isCancelRequested && { cancel: { requestedAt: createdAt, reason: null } }),
    staleAt: isRunning ? staleAt : null,
    staleMinute: isRunning ? minuteOf(staleAt) : null,
  };
}

describe("matchesFilter", () => {
  const app = useSharedApp({ staleAfterSeconds: STALE_AFTER_SECONDS });

  it("matches the same jobs as the query of the filter", async () => {
    const { jobs } = app.stores;

    await fc.assert(
      fc.asyncProperty(anyJob, fc.array(anyFilter, { minLength: 20, maxLength: 20 }), async (given, filters) => {
        await jobs.collection.native.deleteMany({});
        await jobs.put(given.jobId, { name: given.name, metadata: given.metadata });
        await jobs.collection.native.updateOne({}, { $set: stored(given) });
        const job = await jobs.find(given.jobId);

        for (const filter of filters) {
          const found = await jobs.collection.native.countDocuments(jobQuery(filter, NOW));
          expect(matchesFilter(job, filter, NOW), JSON.stringify({ given, filter })).to.equal(found === 1);
        }
      }),
      runs(50),
    );
  });
});
