import { expect } from "chai";
import { startApp } from "../../support/app.ts";
import { createJob, report } from "../../support/factories.ts";
import { useApp, useSharedApp } from "../../support/useApp.ts";

const idsOf = (body: { jobs: { jobId: string }[] }) => body.jobs.map(({ jobId }) => jobId);

describe("GET /api/jobs", () => {
  const app = useSharedApp();
  let start: number;
  before(async () => {
    start = app.clock.now().getTime();
    // one job a minute, oldest first; only `d` is reported on later
    const jobs: [string, object][] = [
      ["ci/a", { name: "Build app", metadata: { env: "prod", tags: ["x", "y"], git: { branch: "main" } } }],
      ["ci/b", { name: "Build docs", metadata: { env: "test", tags: ["y"] }, status: "failed" }],
      ["ci/c", { name: "build site", metadata: { env: "prod" }, status: "completed", output: { ok: 1 } }],
      ["nightly-d", { name: "Report %_.*", input: { rows: 3 } }],
      ["nightly-e", { status: "completed", output: { ok: 1 } }],
    ];
    for (const [jobId, body] of jobs) {
      await app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, body);
      app.clock.advance(60_000);
    }
    await report(app, "/api/jobs/nightly-d", "s", { progress: 10, output: { hidden: true } });
  });
  const at = (minutes: number) => new Date(start + minutes * 60_000 + 30_000).toISOString();

  it("lists all jobs, newest first, each with its current step", async () => {
    const { status, body } = await app.call("GET", "/api/jobs");

    expect(status).to.equal(200);
    expect(idsOf(body)).to.deep.equal(["nightly-e", "nightly-d", "ci/c", "ci/b", "ci/a"]);
    expect(body.nextCursor).to.equal(null);
    expect(body.jobs[1].currentStep).to.include({ stepKey: "s", progress: 10 }).and.to.not.have.property("output");
    expect(body.jobs[0]).to.deep.include({ currentStep: null, output: { ok: 1 } });
  });

  const filters: [string, () => string, string[]][] = [
    ["a status", () => "status=failed", ["ci/b"]],
    ["a repeated status", () => "status=failed&status=running", ["nightly-d", "ci/b", "ci/a"]],
    ["a name's beginning in any case", () => "name=bUILD", ["ci/c", "ci/b", "ci/a"]],
    ["a name's beginning as text, not as a pattern", () => `name=${encodeURIComponent("report %_.*")}`, ["nightly-d"]],
    ["a pattern as text", () => `name=${encodeURIComponent(".*")}`, []],
    ["an id's beginning", () => `jobId=${encodeURIComponent("ci/")}`, ["ci/c", "ci/b", "ci/a"]],
    ["an id's beginning in its own case", () => "jobId=CI", []],
    ["a metadata value", () => "metadata.env=prod", ["ci/c", "ci/a"]],
    ["an item of a metadata list", () => "metadata.tags=y", ["ci/b", "ci/a"]],
    ["two items of a metadata list", () => "metadata.tags=y&metadata.tags=x", ["ci/a"]],
    ["a nested metadata value", () => "metadata.git.branch=main", ["ci/a"]],
    ["a metadata value as a deep object", () => "metadata[env]=prod", ["ci/c", "ci/a"]],
    ["a metadata value with encoded brackets", () => "metadata%5Benv%5D=prod", ["ci/c", "ci/a"]],
    ["a repeated metadata value as a deep object", () => "metadata[tags]=y&metadata[tags]=x", ["ci/a"]],
    ["a nested metadata value as a deep object", () => "metadata[git.branch]=main", ["ci/a"]],
    ["metadata values in both forms", () => "metadata[tags]=y&metadata.tags=x&metadata.env=prod", ["ci/a"]],
    ["a metadata value nobody has", () => "metadata.env=dev", []],
    ["a time of creation from", () => `createdFrom=${at(2)}`, ["nightly-e", "nightly-d"]],
    ["a time of creation before", () => `createdBefore=${at(0)}`, ["ci/a"]],
    ["a range of creation", () => `createdFrom=${at(0)}&createdBefore=${at(2)}`, ["ci/c", "ci/b"]],
    ["a time of change from", () => `updatedFrom=${at(3)}`, ["nightly-e", "nightly-d"]],
    ["a time of change before", () => `updatedBefore=${at(1)}`, ["ci/b", "ci/a"]],
    [
      "many things at once",
      () => `status=completed&name=build&metadata.env=prod&jobId=ci&createdFrom=${at(-1)}`,
      ["ci/c"],
    ],
  ];
  for (const [title, query, expected] of filters) {
    it(`filters by ${title}`, async () => {
      const { status, body } = await app.call("GET", `/api/jobs?${query()}`);

      expect(status, JSON.stringify(body)).to.equal(200);
      expect(idsOf(body)).to.deep.equal(expected);
    });
  }

  it("returns only the requested fields and jobId", async () => {
    const { body } = await app.call("GET", "/api/jobs?fields=status,progress,currentStep&limit=2");

    expect(body.jobs[0]).to.deep.equal({ jobId: "nightly-e", status: "completed", progress: 100, currentStep: null });
    expect(body.jobs[1].currentStep).to.include({ stepKey: "s" });
    expect(body.jobs[1]).to.have.all.keys("jobId", "status", "progress", "currentStep");
  });

  it("returns large fields only on request", async () => {
    const { body } = await app.call("GET", "/api/jobs?fields=input,output");

    expect(body.jobs[1]).to.deep.equal({ jobId: "nightly-d", input: { rows: 3 }, output: null });
  });

  for (const limit of [1, 2, 3, 5, 1_000]) {
    it(`returns every job once over pages of ${limit}`, async () => {
      const seen: string[] = [];
      let cursor: string | null = "";
      while (cursor !== null) {
        const { body } = await app.call("GET", `/api/jobs?limit=${limit}${cursor && `&cursor=${cursor}`}`);
        expect(body.jobs.length).to.be.at.most(limit);
        seen.push(...idsOf(body));
        cursor = body.nextCursor;
      }

      expect(seen).to.deep.equal(["nightly-e", "nightly-d", "ci/c", "ci/b", "ci/a"]);
    });
  }

  it("explains the format of a time when a parameter is not a time", async () => {
    const { status, body } = await app.call("GET", "/api/jobs?createdFrom=yesterday");

    expect(status).to.equal(400);
    expect(body.detail).to.equal(
      "createdFrom must be a time with a time zone (RFC 3339), such as 2026-01-31T18:00:00Z.",
    );
  });

  it("hints at %2B when the + of a time zone arrives as a space", async () => {
    const { status, body } = await app.call("GET", "/api/jobs?createdFrom=2026-01-31T18:00:00+01:00");

    expect(status).to.equal(400);
    expect(body.errors[0].detail).to.match(/: write \+ as %2B in a URL, as in 2026-01-31T18:00:00%2B01:00$/);
  });

  const refused: [string, string][] = [
    ["limit=0", "limit"],
    ["limit=1001", "limit"],
    ["limit=ten", "limit"],
    ["limit=1.5", "limit"],
    ["limit=0x10", "limit"],
    ["limit=0b11", "limit"],
    ["limit=1e2", "limit"],
    ["limit=%20", "limit"],
    ["limit=%2010", "limit"],
    ["limit=", "limit"],
    ["limit=5&limit=6", "limit"],
    ["cursor=", "cursor"],
    ["cursor=nonsense", "cursor"],
    ["cursor=e30", "cursor"],
    ["status=done", "status"],
    ["stale=maybe", "stale"],
    ["createdFrom=yesterday", "createdFrom"],
    ["createdFrom=2026-06-30T23:59:60Z", "createdFrom"],
    ["fields=jobId,secret", "fields"],
    ["sort=name", "sort"],
    ["metadata.=x", "metadata."],
    ["metadata[]=x", "metadata[]"],
    ["metadata=x", "metadata"],
    ["metadata[team=x", "metadata[team"],
    ["metadata[team]x=x", "metadata[team]x"],
    ["metadata[git][branch]=main", "metadata[git][branch]"],
    ["metadata.KEY=x", "metadata.KEY"],
    ["metadata[KEY]=x", "metadata[KEY]"],
    ["metadatas[team]=x", "metadatas[team]"],
  ];
  for (const [query, parameter] of refused) {
    it(`answers ?${query} with 400 invalid_query that names ${parameter}`, async () => {
      const { status, body } = await app.call("GET", `/api/jobs?${query}`);

      expect(status).to.equal(400);
      expect(body.code).to.equal("invalid_query");
      expect(body.errors[0].parameter).to.equal(parameter);
    });
  }
});

describe("the filter by metadata as a deep object", () => {
  const app = useSharedApp();
  before(async () => {
    for (const team of ["a", "b"]) await app.call("PUT", `/api/jobs/${team}`, { metadata: { team } });
  });

  it("limits counts, live events and deletions as well as lists", async () => {
    const counts = await app.call("GET", "/api/stats?metadata[team]=b");
    const events = await app.call("GET", "/api/events?metadata[KEY]=b");
    const deletion = await app.call("DELETE", "/api/jobs?metadata[team]=b");

    expect(counts.body.jobs.total).to.equal(1);
    expect([events.status, events.body.code]).to.deep.equal([400, "invalid_query"]);
    expect(deletion.body).to.deep.equal({ ok: true, deleted: 1 });
    expect(idsOf((await app.call("GET", "/api/jobs")).body)).to.deep.equal(["a"]);
  });

  it("deletes nothing when the key is malformed or missing", async () => {
    for (const query of ["metadata=a", "metadata[]=a", "metadata[KEY]=a", "metadata.=a"]) {
      const { status, body } = await app.call("DELETE", `/api/jobs?${query}`);
      expect([status, body.code], query).to.deep.equal([400, "invalid_query"]);
    }

    expect((await app.call("GET", "/api/jobs/a")).status).to.equal(200);
  });

  it("is refused with a literal KEY, with a text that says what to send", async () => {
    const { body } = await app.call("GET", "/api/jobs?metadata.KEY=sales");

    expect(body.detail).to.equal(
      "metadata.KEY must name a key of the metadata in place of KEY, such as metadata[team]=sales; join nested keys by dots.",
    );
  });
});

describe("pages of jobs while jobs are created and deleted", () => {
  const app = useSharedApp();

  it("neither repeat nor skip a job that exists all the time", async () => {
    const kept = [];
    for (let i = 0; i < 12; i++) kept.push((await createJob(app)).jobId);
    const gone = await createJob(app);
    const first = await app.call("GET", "/api/jobs?limit=5");
    await createJob(app);
    await app.call("DELETE", gone.path);

    const rest = await app.call("GET", `/api/jobs?cursor=${first.body.nextCursor}`);

    const seen = [...idsOf(first.body), ...idsOf(rest.body)].filter((id) => id !== gone.jobId);
    expect(seen).to.deep.equal(kept.reverse());
  });
});

describe("stale jobs", () => {
  const app = useApp({ staleAfterSeconds: 900 });

  it("are running jobs and steps without a report for the configured time, and keep their status", async () => {
    const { jobId, path } = await createJob(app);
    await report(app, path, "a", { progress: 5 });
    app.clock.advance(901_000);

    const { body } = await app.call("GET", `${path}?stepKey=a`);

    expect(body).to.include({ stale: true, status: "running" });
    expect(body.lastReportAt).to.equal(body.updatedAt);
    expect(body.step).to.include({ stale: true, status: "running" });
    expect(body.currentStep).to.include({ stale: true });
    expect(idsOf((await app.call("GET", "/api/jobs?stale=true")).body)).to.deep.equal([jobId]);
    expect((await app.call("GET", "/api/stats")).body.jobs).to.include({ stale: 1, running: 1 });
  });

  it("are no longer stale after the next report", async () => {
    const { path } = await createJob(app);
    await report(app, path, "a", {});
    app.clock.advance(901_000);

    await report(app, path, "b", {});

    const { body } = await app.call("GET", `${path}?stepKey=a`);
    expect(body).to.include({ stale: false });
    expect(body.step).to.include({ stale: true });
    expect((await app.call("GET", "/api/jobs?stale=true")).body.jobs).to.deep.equal([]);
  });

  it("include jobs without any report, by the time of their creation", async () => {
    const { path } = await createJob(app);
    app.clock.advance(899_000);
    const before = await app.call("GET", path);
    app.clock.advance(2_000);
    const after = await app.call("GET", path);

    expect(before.body).to.include({ stale: false, lastReportAt: null });
    expect(after.body).to.include({ stale: true, lastReportAt: null });
  });

  it("stay stale after a change of name or metadata", async () => {
    const { path } = await createJob(app);
    app.clock.advance(901_000);

    const { body } = await app.call("PUT", path, { name: "stuck", metadata: { seen: true } });

    expect(body).to.include({ stale: true, lastReportAt: null });
  });

  it("follow the job's own staleAfterSeconds, even if it is set later", async () => {
    const { path } = await createJob(app, { staleAfterSeconds: 10 });
    await report(app, path, "a", {});
    app.clock.advance(11_000);
    const own = await app.call("GET", `${path}?stepKey=a`);

    const longer = await app.call("PUT", path, { staleAfterSeconds: 3_600 });
    const again = await app.call("PUT", path, { staleAfterSeconds: null });

    expect(own.body).to.include({ stale: true, staleAfterSeconds: 10 });
    expect(own.body.step).to.include({ stale: true });
    expect(longer.body).to.include({ stale: false, staleAfterSeconds: 3_600 });
    expect(again.body).to.include({ stale: false, staleAfterSeconds: null });
  });

  it("never include ended jobs; stale=false lists all others", async () => {
    const ended = await createJob(app, { status: "completed" });
    const stale = await createJob(app);
    app.clock.advance(901_000);
    const fresh = await createJob(app);

    const { body } = await app.call("GET", "/api/jobs?stale=false");

    expect(idsOf(body)).to.deep.equal([fresh.jobId, ended.jobId]);
    expect(idsOf((await app.call("GET", "/api/jobs?stale=true")).body)).to.deep.equal([stale.jobId]);
  });
});

describe("GET /api/stats", () => {
  it("counts jobs by status, and those of the last hour", async () => {
    const app = await startApp();
    try {
      for (const status of ["running", "completed", "completed", "failed"]) await createJob(app, { status });
      app.clock.advance(3_601_000);
      await createJob(app);
      await createJob(app, { status: "failed" });

      const { status, body } = await app.call("GET", "/api/stats");

      expect(status).to.equal(200);
      expect(body.jobs).to.deep.equal({ total: 6, running: 2, completed: 2, failed: 2, stale: 1 });
      expect(body.lastHour).to.deep.equal({ created: 2, completed: 0, failed: 1 });
    } finally {
      await app.close();
    }
  });
});
