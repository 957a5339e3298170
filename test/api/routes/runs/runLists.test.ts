import { expect } from "chai";
import { olderThan } from "../../../../src/models/db/idCursor.ts";
import { type RunFilter, runQuery } from "../../../../src/models/runs/runFilter.ts";
import { startApp, type TestApp } from "../../../support/app.ts";
import { stagesOf } from "../../../support/queryPlan.ts";

const RUNS = 30_000;
const STATUSES = ["queued", "running", "completed", "failed", "dropped"] as const;
const NOW = new Date("2026-06-01T00:00:00Z");
const minutesAgo = (minutes: number) => new Date(NOW.getTime() - minutes * 60_000);

/** Run n was accepted n minutes ago. Every third one was sent to the agent hook, the others to one of 20 mappings. */
const runOf = (n: number) => ({
  _id: `run-${n}`,
  kind: "agent",
  name: `Run ${n}`,
  nameWords: ["run", `${n}`],
  singleUse: false,
  stage: "turn",
  request: null,
  order: null,
  mapped: n % 3 === 0 ? null : { mapping: `map-${n % 20}`, call: "x".repeat(100), wakeMode: "now" },
  sessionKey: `hook:${n % 50}`,
  status: STATUSES[n < 100 ? n % 2 : 2 + (n % 3)],
  open: false,
  attempts: 1,
  round: 0,
  reply: null,
  error: null,
  notBefore: null,
  lease: null,
  createdAt: minutesAgo(n),
  startedAt: null,
  endedAt: null,
  finalized: null,
  forgotten: false,
});

describe("lists of runs", () => {
  let app: TestApp;
  before(async () => {
    app = await startApp({ strict: false });
    const { collection } = app.stores.runs;
    for (let from = 0; from < RUNS; from += 10_000) {
      const runs = Array.from({ length: 10_000 }, (_, i) => runOf(from + i));
      await collection.insertMany(runs as never, { ordered: false });
    }
  });
  after(async () => {
    await app.stores.runs.collection.native.deleteMany({});
    await app.close();
  });

  const list = async (query: Record<string, string>) =>
    (await app.call("GET", `/api/runs?${new URLSearchParams(query)}`)).body;
  const count = async (query: Record<string, string> = {}) =>
    (await app.call("GET", `/api/stats/runs?${new URLSearchParams(query)}`)).body;

  const conditions: RunFilter[] = [
    { status: ["failed", "dropped"] },
    { sessionKey: "hook:7" },
    { mapping: "map-7" },
    { createdFrom: minutesAgo(20_000), createdBefore: minutesAgo(100) },
  ];
  const combinations = conditions.reduce<RunFilter[]>(
    (all, one) => all.concat(all.map((before) => ({ ...before, ...one }))),
    [{}],
  );

  it(`are served by an index for each of the ${combinations.length} combinations of filters, on any page`, async () => {
    const middle = olderThan(`${minutesAgo(10_000).getTime().toString(36)}-run-10000`);
    for (const filter of combinations) {
      for (const cursor of [{}, middle]) {
        const query = { $and: [runQuery(filter), cursor] };
        const found = app.stores.runs.collection.native.find(query as never).sort({ createdAt: -1, _id: -1 });
        const { winningPlan } = (await found.limit(101).explain("queryPlanner")).queryPlanner;

        const stages = stagesOf(winningPlan);
        expect(stages, JSON.stringify(filter)).to.include("IXSCAN").and.to.not.include("COLLSCAN");
        expect(stages, JSON.stringify(filter)).to.not.include("SORT");
      }
    }
  });

  it("examine few documents for a single condition", async () => {
    for (const filter of [{}, ...conditions]) {
      const found = app.stores.runs.collection.native.find(runQuery(filter)).sort({ createdAt: -1, _id: -1 });
      const { executionStats } = await found.limit(101).explain("executionStats");

      expect(executionStats.totalDocsExamined, JSON.stringify(filter)).to.be.at.most(102);
    }
  });

  it("name the mapping of each run, and filter by mapping, session and time", async () => {
    const times = { createdFrom: minutesAgo(1_000).toISOString(), createdBefore: minutesAgo(10).toISOString() };

    const ofMapping = await list({ mapping: "map-7", ...times, limit: "1000" });
    const narrow = await list({ mapping: "map-7", sessionKey: "hook:7", status: "failed", ...times });
    const direct = await list({ limit: "1" });

    const expected = Array.from({ length: RUNS }, (_, n) => runOf(n)).filter(
      ({ mapped, createdAt }) =>
        mapped?.mapping === "map-7" && createdAt >= minutesAgo(1_000) && createdAt < minutesAgo(10),
    );
    const ids = (runs: readonly { runId: string }[]) => runs.map(({ runId }) => runId);
    expect(ids(ofMapping.runs)).to.deep.equal(expected.map(({ _id }) => _id));
    expect(new Set(ofMapping.runs.map(({ mapping }: { mapping: string }) => mapping))).to.deep.equal(
      new Set(["map-7"]),
    );
    expect(ids(narrow.runs)).to.deep.equal(
      expected.filter(({ sessionKey, status }) => sessionKey === "hook:7" && status === "failed").map(({ _id }) => _id),
    );
    expect(direct.runs[0]).to.include({ runId: "run-0", mapping: null });
    expect(JSON.stringify(ofMapping)).to.not.include("xxxx");
  });

  it("are searched by index for words of the name and the beginning of an id", async () => {
    const searches: [search: string, documents: number, rows: number][] = [
      ["12345", 2, 1],
      ["RUN 1234", 22, 11],
      ["run-1234", 22, 11],
      ["run", 2_000, 101],
      ["absent", 0, 0],
    ];
    for (const [search, documents, rows] of searches) {
      const found = app.stores.runs.collection.native.find(runQuery({ search })).sort({ createdAt: -1, _id: -1 });
      const { queryPlanner, executionStats } = await found.limit(101).explain("executionStats");

      const stages = stagesOf(queryPlanner.winningPlan);
      expect(stages, search).to.include("IXSCAN").and.to.not.include("COLLSCAN");
      expect(executionStats.totalDocsExamined, search).to.be.at.most(documents);
      expect(executionStats.nReturned, search).to.equal(rows);
    }
    expect((await count({ search: "1234" })).runs.total).to.equal(11);
  });

  it("are counted by status, at most 10,000 of them", async () => {
    const all = await count();
    const ofMapping = await count({ mapping: "map-7" });
    const recent = await count({ createdFrom: minutesAgo(99).toISOString(), sessionKey: "hook:7" });
    const old = await count({ createdBefore: minutesAgo(10).toISOString() });
    const none = await count({ mapping: "unknown" });

    expect(all.runs).to.include({ queued: 50, running: 50 });
    expect(all.capped).to.equal(false);
    expect(all.runs.total).to.equal(RUNS);
    expect(ofMapping).to.include({ capped: false });
    expect(ofMapping.runs.total).to.equal(
      Array.from({ length: RUNS }, (_, n) => runOf(n)).filter(({ mapped }) => mapped?.mapping === "map-7").length,
    );
    expect(recent.runs).to.deep.equal({
      ...{ total: 2, queued: 0, running: 2, waiting: 0 },
      ...{ completed: 0, failed: 0, dropped: 0 },
    });
    expect(old).to.include({ capped: true });
    expect(old.runs.total).to.equal(10_000);
    expect(none.runs.total).to.equal(0);
  });

  it("refuse a time that does not exist, and an empty mapping", async () => {
    const time = await app.call("GET", "/api/stats/runs?createdFrom=yesterday");
    const mapping = await app.call("GET", "/api/runs?mapping=");

    expect([time.status, time.body.errors?.[0]?.parameter]).to.deep.equal([400, "createdFrom"]);
    expect([mapping.status, mapping.body.errors?.[0]?.parameter]).to.deep.equal([400, "mapping"]);
  });
});
