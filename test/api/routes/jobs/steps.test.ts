import { expect } from "chai";
import { createJob, report, whole } from "../../../support/factories.ts";
import { useSharedApp } from "../../../support/useApp.ts";

const RECEIPT = [
  "stepId",
  "jobId",
  "stepKey",
  "stepName",
  "status",
  "progress",
  "message",
  "createdAt",
  "updatedAt",
  "startedAt",
];
const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

describe("PUT step", () => {
  const app = useSharedApp();
  let job: { jobId: string; path: string };
  beforeEach(async () => {
    job = await createJob(app);
  });
  const readJob = async () => (await app.call("GET", job.path)).body;
  const readStep = async (key: string) => (await app.call("GET", `${job.path}/steps/${key}`)).body;

  it("creates a running step at 0 with 201, and answers without its output", async () => {
    const { status, body } = await app.call("PUT", `${job.path}/steps/fetch`, { stepName: "Fetch", output: { a: 1 } });

    expect(status).to.equal(201);
    expect(body).to.have.all.keys(RECEIPT);
    expect(body).to.include({
      jobId: job.jobId,
      stepKey: "fetch",
      stepName: "Fetch",
      status: "running",
      progress: 0,
      message: null,
    });
    expect(body.stepId).to.match(UUID);
    expect(body.createdAt).to.equal(body.updatedAt).and.to.equal(body.startedAt);
  });

  it("updates a step with 200, and leaves fields that are not given", async () => {
    const first = await report(app, job.path, "a", { message: "begun", output: { kept: true } });
    app.clock.advance(50);

    const { status, body } = await app.call("PUT", `${job.path}/steps/a`, { progress: 30 });

    expect(status).to.equal(200);
    expect(body).to.have.all.keys(RECEIPT);
    expect(body).to.include({
      stepId: first.body.stepId,
      stepName: "a",
      status: "running",
      progress: 30,
      message: "begun",
    });
    expect(body.startedAt).to.equal(first.body.startedAt);
    expect(Date.parse(body.updatedAt)).to.be.greaterThan(Date.parse(body.createdAt));
    expect((await readStep("a")).output).to.deep.equal({ kept: true });
  });

  it("never stores jobProgressStart, jobProgressEnd and failJob", async () => {
    await report(app, job.path, "a", { ...whole(10), failJob: false });

    const stored = await app.stores.jobs.collection.native.findOne({ jobId: job.jobId });

    expect(stored?.steps?.a).to.include({ stepKey: "a" });
    expect(stored?.steps?.a).to.not.have.any.keys("jobProgressStart", "jobProgressEnd", "failJob");
  });

  const keys = [
    "a.b",
    "$a",
    "%2E",
    "%",
    "$",
    "__proto__",
    "constructor",
    "0",
    "1",
    "steps",
    "ä 漢/👩‍👩‍👧",
    "a".repeat(256),
  ];
  it("accepts any key, and lists the steps in the order of their creation", async () => {
    for (const [i, key] of [...keys, "10", "2"].entries()) {
      const path = `${job.path}/steps/${encodeURIComponent(key)}`;
      const made = await app.call("PUT", path, { stepName: `Step ${i}`, output: { key } });
      const again = await app.call("PUT", path, { progress: i });
      const current = (await app.call("GET", `${job.path}?stepKey=${encodeURIComponent(key)}`)).body;

      expect([made.status, again.status], key).to.deep.equal([201, 200]);
      expect(again.body).to.include({ stepKey: key, stepName: `Step ${i}`, progress: i });
      expect(current.currentStep).to.include({ stepKey: key, progress: i });
      expect(current.step).to.deep.include({ stepKey: key, output: { key } });
    }

    const { steps } = (await app.call("GET", `${job.path}/steps`)).body;
    const included = (await app.call("GET", `${job.path}?include=steps`)).body.steps;
    const first = (await app.call("GET", `${job.path}/steps?limit=3`)).body;
    const rest = (await app.call("GET", `${job.path}/steps?cursor=${first.nextCursor}`)).body;
    const keysOf = (rows: { stepKey: string }[]) => rows.map(({ stepKey }) => stepKey);
    expect(keysOf(steps)).to.deep.equal([...keys, "10", "2"]);
    expect(keysOf(included)).to.deep.equal(keysOf(steps));
    expect([...keysOf(first.steps), ...keysOf(rest.steps)]).to.deep.equal(keysOf(steps));
  });

  it("starts the list again for the cursor of another list", async () => {
    await report(app, job.path, "a", {});

    const { status, body } = await app.call("GET", `${job.path}/steps?cursor=mibz7f0c-6b01e9c2af41111cf64821aa`);

    expect([status, body.steps.length]).to.deep.equal([200, 1]);
  });

  it("keeps the latest 20 failed attempts of a step with their errors, and shows them with the single step only", async () => {
    await report(app, job.path, "a", { message: "Starting" });
    const startedAt = (await readStep("a")).startedAt;
    await report(app, job.path, "a", { status: "failed" });
    await report(app, job.path, "a", { status: "failed", message: `No route.${"x".repeat(2_000)}` });
    const first = await readStep("a");
    for (let attempt = 2; attempt <= 22; attempt++) {
      await report(app, job.path, "a", { status: "running" });
      await report(app, job.path, "a", { status: "failed", message: `$message ${attempt}` });
    }
    await report(app, job.path, "a", { status: "completed", progress: 100 });

    const step = await readStep("a");
    const listed = (await app.call("GET", `${job.path}/steps`)).body.steps[0];
    const none = await report(app, job.path, "b", {}).then(() => readStep("b"));

    expect(first.failedAttempts).to.have.length(1);
    expect(first.failedAttempts[0]).to.include({ attempt: 1, startedAt });
    expect(first.failedAttempts[0].error)
      .to.have.length(1_000)
      .and.match(/^No route\.x/);
    expect(first.failedAttempts[0].endedAt >= startedAt).to.equal(true);
    expect(step.failedAttempts.map(({ error }: { error: string }) => error)).to.deep.equal(
      Array.from({ length: 20 }, (_, at) => `$message ${at + 3}`),
    );
    expect(step.failedAttempts[19].attempt).to.equal(22);
    expect([listed, none].some((one) => "failedAttempts" in one)).to.equal(false);
  });

  it("keeps the last message as the error of a failure without one", async () => {
    await report(app, job.path, "a", { message: "Connecting" });
    await report(app, job.path, "a", { status: "failed" });
    await report(app, job.path, "b", { status: "failed" });

    const errors = await Promise.all(["a", "b"].map(async (key) => (await readStep(key)).failedAttempts[0].error));

    expect(errors).to.deep.equal(["Connecting", null]);
  });

  it("accepts a step back as it was read", async () => {
    await report(app, job.path, "a", { status: "failed", message: "It broke" });
    await report(app, job.path, "a", { status: "running" });
    await report(app, job.path, "a", { status: "completed", progress: 100 });
    const read = await readStep("a");

    const { status, body } = await app.call("PUT", `${job.path}/steps/a`, read);

    expect(status).to.equal(200);
    expect(body).to.include({
      stepId: read.stepId,
      createdAt: read.createdAt,
      startedAt: read.startedAt,
      status: "completed",
    });
    expect(await readStep("a")).to.include({ attempts: 2, durationMs: read.durationMs });
  });

  it("is idempotent: a repeated report changes only updatedAt", async () => {
    const body = { stepName: "A", status: "completed", ...whole(40), message: "done", output: { n: 1 } };
    await app.call("PUT", `${job.path}/steps/a`, body);
    const before = { job: await readJob(), step: await readStep("a") };

    await app.call("PUT", `${job.path}/steps/a`, body);

    const changing = { updatedAt: "", lastReportAt: "", staleAt: "" };
    expect({ ...(await readStep("a")), ...changing }).to.deep.equal({ ...before.step, ...changing });
    expect({ ...(await readJob()), ...changing }).to.deep.equal({ ...before.job, ...changing });
  });

  for (const key of ["constructor", "toString", "__proto__"]) {
    it(`requires stepName in the report that creates the step ${key} beside another one`, async () => {
      await report(app, job.path, "a", {});

      const { status, body } = await app.call("PUT", `${job.path}/steps/${key}`, { progress: 5 });

      expect([status, body.errors?.[0].pointer]).to.deep.equal([400, "/stepName"]);
      expect((await app.call("GET", `${job.path}/steps/${key}`)).status).to.equal(404);
    });
  }

  it("requires stepName in the report that creates the step: 400 invalid_body, and nothing is stored", async () => {
    const { status, body } = await app.call("PUT", `${job.path}/steps/a`, { ...whole(50), message: "lost" });

    expect(status).to.equal(400);
    expect(body).to.deep.include({ code: "invalid_body" });
    expect(body.errors).to.have.length(1);
    expect(body.errors[0].pointer).to.equal("/stepName");
    expect(await readJob()).to.include({ progress: 0, message: null });
    expect((await app.call("GET", `${job.path}/steps`)).body.steps).to.deep.equal([]);
  });

  it("answers with the stored form of a lone surrogate", async () => {
    const body = '{"stepName":"S\\ud800","message":"\\udfff!","output":{"kept":"\\ud800"}}';

    const { body: answered } = await app.call("PUT", `${job.path}/steps/a`, body);

    const read = await readStep("a");
    expect(answered).to.include({ stepName: "S\ufffd", message: "\ufffd!" });
    expect(read).to.deep.include({ stepName: "S\ufffd", message: "\ufffd!", output: { kept: "\ufffd" } });
  });

  it("renames the step", async () => {
    await report(app, job.path, "a", {});

    const { body } = await app.call("PUT", `${job.path}/steps/a`, { stepName: "New name" });

    expect(body.stepName).to.equal("New name");
  });

  it("answers 404 job_not_found for an unknown job, and creates none", async () => {
    const { status, body } = await app.call("PUT", "/api/jobs/nobody/steps/a", { stepName: "A" });

    expect(status).to.equal(404);
    expect(body.code).to.equal("job_not_found");
    expect((await app.call("GET", "/api/jobs/nobody")).status).to.equal(404);
  });

  for (const ended of ["failed", "completed"]) {
    it(`counts an attempt when a ${ended} step is reported running again, and restarts it`, async () => {
      await report(app, job.path, "a", {});
      await report(app, job.path, "a", { status: ended });
      const before = await readStep("a");
      app.clock.advance(2_000);

      await report(app, job.path, "a", { status: "running" });
      await report(app, job.path, "a", { status: "running", progress: 5 });

      const again = await readStep("a");
      expect(again).to.include({ attempts: 2, status: "running", stepId: before.stepId, createdAt: before.createdAt });
      expect(Date.parse(again.startedAt)).to.be.at.least(Date.parse(before.startedAt) + 2_000);
      expect(again).to.not.have.property("durationMs");
    });
  }

  it("measures the duration of the attempt that completed, not of former ones", async () => {
    await report(app, job.path, "a", {});
    app.clock.advance(60_000);
    await report(app, job.path, "a", { status: "failed" });
    await report(app, job.path, "a", { status: "running" });
    app.clock.advance(1_000);

    await report(app, job.path, "a", { status: "completed" });

    expect((await readStep("a")).durationMs).to.be.within(1_000, 30_000);
  });

  describe("and the job's progress:", () => {
    it("calculates it from progress and the range (rule 1)", async () => {
      await report(app, job.path, "a", { progress: 50, jobProgressStart: 20, jobProgressEnd: 60 });

      expect(await readJob()).to.include({ progress: 40, status: "running" });
      expect(await readStep("a")).to.include({ progress: 50 });
    });

    for (const missing of ["progress", "jobProgressStart", "jobProgressEnd"]) {
      it(`leaves it unchanged without ${missing} (rule 1)`, async () => {
        const { [missing]: _, ...rest } = whole(50) as Record<string, number>;

        await report(app, job.path, "a", rest);

        expect(await readJob()).to.include({ progress: 0 });
      });
    }

    it("never lowers it (rule 2)", async () => {
      await report(app, job.path, "a", whole(60));
      await report(app, job.path, "b", whole(30));

      expect(await readJob()).to.include({ progress: 60 });
    });

    it("sets it together with the message of the request (rule 3)", async () => {
      await report(app, job.path, "a", { message: "first" });
      await report(app, job.path, "b", { message: "second" });
      await report(app, job.path, "a", { progress: 5 });

      expect(await readJob()).to.include({ message: "second" });
    });

    it("stores a message that looks like an operator as text", async () => {
      await report(app, job.path, "a", { stepName: "$$ROOT", message: "$status" });

      expect(await readJob()).to.include({ message: "$status" });
      expect(await readStep("a")).to.include({ stepName: "$$ROOT" });
    });

    const final = { stepName: "Last", status: "completed", output: { url: "x" } };

    for (const before of ["running", "failed", "completed"]) {
      it(`completes a ${before} job at 100, with the output on both (rule 4)`, async () => {
        await app.call("PUT", job.path, { status: before });

        await report(app, job.path, "last", { ...final, progress: 100, jobProgressStart: 33.3, jobProgressEnd: 100 });

        expect(await readJob()).to.deep.include({ status: "completed", progress: 100, output: { url: "x" } });
        expect(await readStep("last")).to.deep.include({ status: "completed", output: { url: "x" } });
      });
    }

    it("does not complete the job below 100, whatever the step's status", async () => {
      await report(app, job.path, "a", { ...final, progress: 100, jobProgressStart: 0, jobProgressEnd: 99 });

      expect(await readJob()).to.deep.include({ status: "running", progress: 99, output: null });
      expect((await readStep("a")).output).to.deep.equal({ url: "x" });
    });

    for (const status of [undefined, "running", "completed"]) {
      it(`rejects a report that reaches 100 without output and with ${status ?? "no"} status: 400 output_required, nothing is stored (rule 4)`, async () => {
        await report(app, job.path, "a", { message: "so far", output: { old: true } });
        const before = { job: await readJob(), step: await readStep("a") };

        const { status: code, body } = await app.call("PUT", `${job.path}/steps/a`, {
          status,
          ...whole(100),
          message: "lost",
        });

        expect(code).to.equal(400);
        expect(body.code).to.equal("output_required");
        expect({ job: await readJob(), step: await readStep("a") }).to.deep.equal(before);
      });
    }

    it("treats output: null as no output", async () => {
      const { status, body } = await app.call("PUT", `${job.path}/steps/a`, {
        stepName: "A",
        ...whole(100),
        output: null,
      });

      expect(status).to.equal(400);
      expect(body.code).to.equal("output_required");
    });

    it("accepts an empty object as output", async () => {
      await report(app, job.path, "a", { ...whole(100), output: {} });

      expect(await readJob()).to.deep.include({ status: "completed", output: {} });
    });

    it("fails the job with failJob: takes the message, changes no progress, stores no output (rule 5)", async () => {
      await report(app, job.path, "a", { progress: 50, jobProgressStart: 0, jobProgressEnd: 40 });

      await report(app, job.path, "a", { status: "failed", failJob: true, message: "disk full", output: { log: "…" } });

      expect(await readJob()).to.deep.include({ status: "failed", progress: 20, message: "disk full", output: null });
      expect((await readStep("a")).output).to.deep.equal({ log: "…" });
    });

    it("fails the job with the step's former message (rule 5)", async () => {
      await report(app, job.path, "a", { message: "copying" });
      await report(app, job.path, "b", { message: "indexing" });

      await report(app, job.path, "a", { status: "failed", failJob: true });

      expect(await readJob()).to.include({ status: "failed", message: "copying" });
    });

    for (const failJob of [undefined, false]) {
      it(`fails only the step with failJob ${failJob} (rule 5)`, async () => {
        await report(app, job.path, "a", { status: "failed", failJob, message: "will be tried again" });

        expect(await readJob()).to.include({ status: "running" });
        expect(await readStep("a")).to.include({ status: "failed" });
      });
    }

    it("ignores failJob in a report that is not failed", async () => {
      await report(app, job.path, "a", { status: "running", failJob: true });

      expect(await readJob()).to.include({ status: "running" });
    });

    for (const failJob of [false, true]) {
      it(`does not complete the job or reach 100 by a failed report with failJob ${failJob}, which needs no output (rule 6)`, async () => {
        await report(app, job.path, "a", whole(30));

        await report(app, job.path, "a", { status: "failed", failJob, ...whole(100) });

        expect(await readJob()).to.include({ status: failJob ? "failed" : "running", progress: 30 });
      });
    }

    it("raises it by a failed report below 100", async () => {
      await report(app, job.path, "a", { status: "failed", ...whole(30) });

      expect(await readJob()).to.include({ status: "running", progress: 30 });
    });

    it("stores an output below 100 only on the step (rule 7)", async () => {
      await report(app, job.path, "a", { ...whole(99.99), output: { part: 1 } });

      expect(await readJob()).to.deep.include({ output: null, progress: 99.99 });
      expect((await readStep("a")).output).to.deep.equal({ part: 1 });
    });

    it("keeps the job's end when the last report is repeated", async () => {
      const last = { ...final, ...whole(100) };
      await report(app, job.path, "last", last);
      const [before] = await app.stores.jobs.collection.native.find({ jobId: job.jobId }).toArray();
      app.clock.advance(5_000);

      await report(app, job.path, "last", last);

      const [after] = await app.stores.jobs.collection.native.find({ jobId: job.jobId }).toArray();
      expect(after?.endedAt).to.deep.equal(before?.endedAt);
    });
  });
});

describe("GET steps of a job", () => {
  const app = useSharedApp();
  let path: string;
  const keys = Array.from({ length: 7 }, (_, i) => `s${i}`);
  before(async () => {
    ({ path } = await createJob(app));
    for (const key of keys) await report(app, path, key, { status: "completed", output: { key } });
  });

  it("lists the steps oldest first with their outputs, without durationMs", async () => {
    const { status, body } = await app.call("GET", `${path}/steps`);

    expect(status).to.equal(200);
    expect(body.nextCursor).to.equal(null);
    expect(body.steps.map((step: { output: object }) => step.output)).to.deep.equal(keys.map((key) => ({ key })));
    expect(body.steps[0]).to.have.property("attempts", 1).and.to.not.have.property("durationMs");
  });

  it("returns every step once over its pages", async () => {
    const seen: string[] = [];
    let cursor: string | null = "";
    while (cursor !== null) {
      const { body } = await app.call("GET", `${path}/steps?limit=3${cursor && `&cursor=${cursor}`}`);
      seen.push(...body.steps.map((step: { stepKey: string }) => step.stepKey));
      cursor = body.nextCursor;
    }

    expect(seen).to.deep.equal(keys);
  });

  it("lists the steps of some states over pages, also when some of them end between two pages", async () => {
    const job = await createJob(app);
    for (let n = 0; n < 9; n++) {
      const status = ["running", "completed", "failed"][n % 3];
      await report(app, job.path, `s${n}`, { status });
    }
    const read = async (query: string) => (await app.call("GET", `${job.path}/steps?fields=status&${query}`)).body;
    const keysOf = ({ steps }: { steps: { stepKey: string }[] }) => steps.map(({ stepKey }) => stepKey);

    const first = await read("status=running&status=failed&limit=3");
    await report(app, job.path, "s0", { status: "completed" });
    const second = await read(`status=running&status=failed&limit=3&cursor=${first.nextCursor}`);
    const completed = await read("status=completed");

    expect([keysOf(first), keysOf(second)]).to.deep.equal([
      ["s0", "s2", "s3"],
      ["s5", "s6", "s8"],
    ]);
    expect([keysOf(completed), completed.nextCursor]).to.deep.equal([["s0", "s1", "s4", "s7"], null]);
    expect((await app.call("GET", `${job.path}/steps?status=ended`)).status).to.equal(400);
  });

  it("lists only the requested fields, then with pages as long as the limit, and rejects unknown fields", async () => {
    const large = await createJob(app);
    for (const key of ["a", "b", "c", "d"])
      await report(app, large.path, key, { output: { text: "x".repeat(3_900_000) } });

    const { body } = await app.call("GET", `${large.path}/steps?fields=status,progress`);
    const withOutput = await app.call("GET", `${path}/steps?limit=1&fields=output`);
    const refused = await app.call("GET", `${path}/steps?fields=colour`);

    const step = { status: "running", progress: 0 };
    expect(body.steps).to.deep.equal(["a", "b", "c", "d"].map((stepKey) => ({ stepKey, ...step })));
    expect(body.nextCursor).to.equal(null);
    expect(withOutput.body.steps).to.deep.equal([{ stepKey: keys[0], output: { key: keys[0] } }]);
    expect([refused.status, refused.body.errors[0].parameter]).to.deep.equal([400, "fields"]);
  });

  it("answers 404 for an unknown job or step", async () => {
    const job = await app.call("GET", "/api/jobs/nobody/steps");
    const stepOfNobody = await app.call("GET", "/api/jobs/nobody/steps/a");
    const step = await app.call("GET", `${path}/steps/none`);

    expect([job.status, job.body.code]).to.deep.equal([404, "job_not_found"]);
    expect([stepOfNobody.status, stepOfNobody.body.code]).to.deep.equal([404, "job_not_found"]);
    expect([step.status, step.body.code]).to.deep.equal([404, "step_not_found"]);
  });
});
