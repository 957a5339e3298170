import { randomUUID } from "node:crypto";
import { expect } from "chai";
import { createJob, report, whole } from "../../../support/factories.ts";
import { useApp, useSharedApp } from "../../../support/useApp.ts";

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("PUT /api/jobs/:jobId", () => {
  const app = useSharedApp();

  it("creates a running job at 0 with 201, with null for all fields that were not set", async () => {
    const jobId = randomUUID();

    const { status, body } = await app.call("PUT", `/api/jobs/${jobId}`, {});

    expect(status).to.equal(201);
    expect(body).to.include({ jobId, status: "running", progress: 0, stale: false });
    for (const field of [
      "name",
      "description",
      "input",
      "metadata",
      "message",
      "output",
      "currentStep",
      "lastReportAt",
    ]) {
      expect(body[field], field).to.equal(null);
    }
    expect(body.createdAt).to.match(ISO).and.to.equal(body.updatedAt);
  });

  it("creates a job without a body", async () => {
    const { status } = await app.call("PUT", `/api/jobs/${randomUUID()}`);

    expect(status).to.equal(201);
  });

  it("updates only the fields given, with 200", async () => {
    const given = { name: "Report", description: "Monthly", input: { a: [1, { b: null }] }, metadata: { env: "prod" } };
    const { path } = await createJob(app, given);
    app.clock.advance(1_000);

    const { status, body } = await app.call("PUT", path, { description: "Yearly" });

    expect(status).to.equal(200);
    expect(body).to.deep.include({ ...given, description: "Yearly", status: "running", progress: 0 });
    expect(Date.parse(body.updatedAt)).to.be.greaterThan(Date.parse(body.createdAt));
    expect((await app.call("GET", path)).body).to.deep.equal(body);
  });

  it("clears a field given as null", async () => {
    const { path } = await createJob(app, { name: "Cleared", metadata: { env: "cleared" } });

    const { body } = await app.call("PUT", path, { name: null, metadata: null });

    expect(body).to.deep.include({ name: null, metadata: null });
    expect((await app.call("GET", "/api/jobs?metadata.env=cleared")).body.jobs).to.deep.equal([]);
    expect((await app.call("GET", "/api/jobs?name=cleared")).body.jobs).to.deep.equal([]);
  });

  it("accepts a job back as it was read", async () => {
    const { path } = await createJob(app, { name: "Report" });
    await report(app, path, "a", { progress: 10 });
    const read = (await app.call("GET", `${path}?stepKey=a&include=steps`)).body;

    const { status, body } = await app.call("PUT", path, read);

    expect(status).to.equal(200);
    expect(body).to.include({ jobId: read.jobId, createdAt: read.createdAt, name: "Report" });
  });

  const corrections: [string, object, object][] = [
    ["progress goes forward", { progress: 60 }, { progress: 60, status: "running" }],
    ["progress does not go back", { progress: 10 }, { progress: 40, status: "running" }],
    [
      "completed brings progress to 100",
      { status: "completed", output: { a: 1 } },
      { progress: 100, status: "completed" },
    ],
    ["completed sets progress to 100 whatever the body says", { status: "completed", progress: 50 }, { progress: 100 }],
    ["failed leaves progress", { status: "failed", message: "gave up" }, { progress: 40, message: "gave up" }],
  ];
  for (const [title, change, expected] of corrections) {
    it(`allows a manual correction: ${title}`, async () => {
      const { path } = await createJob(app, { progress: 40 });

      const { status, body } = await app.call("PUT", path, change);

      expect(status).to.equal(200);
      expect(body).to.include(expected);
    });
  }

  it("reopens a job by a manual correction without lowering its progress", async () => {
    const { path } = await createJob(app, { status: "completed", output: { done: true } });

    const { body } = await app.call("PUT", path, { status: "running", progress: 5 });

    expect(body).to.deep.include({ status: "running", progress: 100, output: { done: true } });
  });

  it("stores free objects unchanged, whatever they contain", async () => {
    const odd = '{"$where":"1","a.b":{"$gt":""},"__proto__":{"x":1},"_bsontype":"ObjectId","\\u0000":"\\u0000","":[]}';

    const { path } = await createJob(app, {});
    await app.call("PUT", path, `{"input":${odd},"metadata":${odd},"output":${odd}}`);

    const { body } = await app.call("GET", path);
    for (const field of ["input", "metadata", "output"]) expect(JSON.stringify(body[field])).to.equal(odd);
  });

  it("stores an object that is nested thousands of levels deep", async () => {
    const deep = `${'{"a":'.repeat(2_000)}1${"}".repeat(2_000)}`;

    const { path } = await createJob(app, {});
    const { status } = await app.call("PUT", path, `{"input":${deep}}`);

    expect(status).to.equal(200);
    const { body } = await app.call("GET", path);
    expect(JSON.stringify(body.input)).to.equal(deep);
  });

  it("answers one of 20 concurrent creations with 201", async () => {
    const path = `/api/jobs/${randomUUID()}`;

    const answers = await Promise.all(Array.from({ length: 20 }, (_, i) => app.call("PUT", path, { name: `n${i}` })));

    const statuses = answers.map(({ status }) => status).sort();
    expect(statuses).to.deep.equal([...Array(19).fill(200), 201]);
    expect(new Set(answers.map(({ body }) => body.createdAt))).to.have.property("size", 1);
  });
});

describe("GET /api/jobs/:jobId", () => {
  const app = useSharedApp();

  it("shows the most recently reported of the running steps, without its output", async () => {
    const { path } = await createJob(app);
    await report(app, path, "a", { output: { large: true } });
    await report(app, path, "b", {});
    await report(app, path, "c", { status: "completed" });
    await report(app, path, "a", { progress: 20 });

    const { body } = await app.call("GET", path);

    expect(body.currentStep).to.include({ stepKey: "a", stepName: "a", status: "running", progress: 20, attempts: 1 });
    expect(body.currentStep).to.not.have.any.keys("output", "durationMs");
    expect(body).to.not.have.any.keys("step", "steps");
  });

  it("shows the previous step when the current one ends, and null when no step is running", async () => {
    const { path } = await createJob(app);
    await report(app, path, "a", {});
    await report(app, path, "b", {});

    await report(app, path, "b", { status: "failed" });
    const one = await app.call("GET", path);
    await report(app, path, "a", { status: "completed" });
    const none = await app.call("GET", path);

    expect(one.body.currentStep.stepKey).to.equal("a");
    expect(none.body.currentStep).to.equal(null);
  });

  it("orders two reports of the same millisecond", async () => {
    const { path } = await createJob(app);
    const keys = Array.from({ length: 30 }, (_, i) => `step-${i}`);

    for (const key of keys) {
      await report(app, path, key, {});
      const { body } = await app.call("GET", path);
      expect(body.currentStep.stepKey).to.equal(key);
    }
  });

  it("adds one step for ?stepKey=, with output and, once completed, durationMs", async () => {
    const { path } = await createJob(app);
    await report(app, path, "a", {});
    app.clock.advance(1_500);
    await report(app, path, "a", { status: "completed", output: { rows: 3 } });

    const { body } = await app.call("GET", `${path}?stepKey=a`);

    expect(body.step).to.deep.include({ stepKey: "a", status: "completed", output: { rows: 3 } });
    expect(body.step.durationMs).to.be.within(1_500, 11_500);
    expect(Number.isInteger(body.step.durationMs)).to.equal(true);
  });

  it("adds step: null for an unknown stepKey", async () => {
    const { path } = await createJob(app);

    const { status, body } = await app.call("GET", `${path}?stepKey=none`);

    expect(status).to.equal(200);
    expect(body.step).to.equal(null);
  });

  it("adds all steps for ?include=steps, oldest first, with outputs and without durationMs", async () => {
    const { path } = await createJob(app);
    for (const key of ["c", "a", "b"]) await report(app, path, key, { status: "completed", output: { key } });
    await report(app, path, "c", { message: "again" });

    const { body } = await app.call("GET", `${path}?include=steps`);

    expect(body.steps.map((step: { stepKey: string }) => step.stepKey)).to.deep.equal(["c", "a", "b"]);
    expect(body.steps[1].output).to.deep.equal({ key: "a" });
    expect(body.steps[1]).to.not.have.property("durationMs");
  });

  it("answers an unknown job with 404 job_not_found", async () => {
    const { status, body } = await app.call("GET", "/api/jobs/nobody");

    expect(status).to.equal(404);
    expect(body.code).to.equal("job_not_found");
  });

  it("answers HEAD like GET, without the body", async () => {
    const { path } = await createJob(app);

    const { status, body, headers } = await app.call("HEAD", path);

    expect(status).to.equal(200);
    expect(body).to.equal("");
    expect(Number(headers.get("Content-Length"))).to.be.greaterThan(100);
  });
});

describe("DELETE /api/jobs", () => {
  const app = useApp();

  it("deletes one job and all its steps", async () => {
    const { path } = await createJob(app);
    const other = await createJob(app);
    await report(app, path, "a", whole(10));
    await report(app, other.path, "a", whole(10));

    const { status, body } = await app.call("DELETE", path);

    expect(status).to.equal(200);
    expect(body).to.deep.equal({ ok: true });
    expect((await app.call("GET", path)).status).to.equal(404);
    expect((await app.call("GET", `${path}/steps`)).body.code).to.equal("job_not_found");
    expect((await app.call("GET", `${other.path}/steps`)).body.steps).to.have.length(1);
    expect((await app.call("DELETE", path)).status).to.equal(404);
  });

  it("lets a new job of the same name start empty", async () => {
    const { path } = await createJob(app, { name: "old" });
    await report(app, path, "a", whole(70));
    await app.call("DELETE", path);

    const { status, body } = await app.call("PUT", path, {});

    expect(status).to.equal(201);
    expect(body).to.include({ name: null, progress: 0, currentStep: null });
    expect((await app.call("GET", `${path}/steps`)).body.steps).to.deep.equal([]);
  });

  it("deletes every job and every step", async () => {
    for (let i = 0; i < 3; i++) await report(app, (await createJob(app)).path, "a", { ...whole(10), output: {} });

    const { status, body } = await app.call("DELETE", "/api/jobs");

    expect(status).to.equal(200);
    expect(body).to.deep.equal({ ok: true, deleted: 3 });
    expect((await app.call("GET", "/api/jobs")).body).to.deep.equal({ jobs: [], nextCursor: null });
    expect(await app.stores.payloads.collection.native.countDocuments()).to.equal(0);
  });

  it("deletes only the jobs that match the filters", async () => {
    const failed = await createJob(app, { status: "failed", metadata: { env: "test" } });
    const others = [await createJob(app, { metadata: { env: "test" } }), await createJob(app, { status: "failed" })];

    const { status, body } = await app.call("DELETE", "/api/jobs?status=failed&metadata.env=test");

    expect(status).to.equal(200);
    expect(body).to.deep.equal({ ok: true, deleted: 1 });
    expect((await app.call("GET", failed.path)).status).to.equal(404);
    for (const { path } of others) expect((await app.call("GET", path)).status).to.equal(200);
  });

  for (const query of ["", "?status=running"]) {
    it(`leaves jobs created meanwhile alone, and terminates, at /api/jobs${query}`, async () => {
      await createJob(app);
      const made: string[] = [];
      const { jobs } = app.stores;
      const deleteSome = jobs.delete.bind(jobs);
      jobs.delete = async (some, filter) => {
        app.clock.advance(1);
        if (made.length < 5) made.push((await createJob(app)).jobId);
        return deleteSome(some, filter);
      };

      const { status } = await app.call("DELETE", `/api/jobs${query}`);

      expect(status).to.equal(200);
      const left = (await app.call("GET", "/api/jobs")).body.jobs.map(({ jobId }: { jobId: string }) => jobId);
      expect(left).to.have.members(made).and.have.length(1);
    });
  }

  const misspelt = ["statsu=failed", "name=", "limit=10", "cursor=abc", "metadata=x", "status=faild"];
  const unclear = ["all=false", "all=true&status=running", "all=yes"];
  for (const query of [...misspelt, ...unclear]) {
    it(`deletes nothing for ?${query}, and answers 400`, async () => {
      await createJob(app);

      const { status, body } = await app.call("DELETE", `/api/jobs?${query}`);

      expect(status).to.equal(400);
      expect(body.code).to.equal("invalid_query");
      expect((await app.call("GET", "/api/jobs")).body.jobs).to.have.length(1);
    });
  }

  it("deletes nothing at a path without a jobId", async () => {
    await createJob(app);

    const { status } = await app.call("DELETE", "/api/jobs/");

    expect(status).to.equal(404);
    expect((await app.call("GET", "/api/jobs")).body.jobs).to.have.length(1);
  });
});
