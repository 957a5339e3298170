import { expect } from "chai";
import fc from "fast-check";
import sinon from "sinon";
import { readJob } from "../../../../src/models/jobs/read/readJobs.ts";
import { reportStep, type StepReport } from "../../../../src/models/jobs/reports/reportStep.ts";
import { deleteJob } from "../../../../src/models/retention/deleteJobs.ts";
import { openStores, type Stores } from "../../../../src/models/stores.ts";
import { cases, runs } from "../../../support/random.ts";
import { useOwnMongod } from "../../../support/servers/servers.ts";
import { useReports } from "../useReports.ts";

interface ModelStep {
  stepKey: string;
  stepName: string;
  status: string;
  progress: number;
  message: string | null;
  output: object | null;
  attempts: number;
}

/** A reference model: a job with the rules of the contract. */
class ModelJob {
  status = "running";
  progress = 0;
  message: string | null = null;
  output: object | null = null;
  readonly steps: ModelStep[] = [];
  /** The keys of the steps, ordered by their newest report. */
  #reported: string[] = [];

  /** @returns the code of the error that rejects it */
  report(stepKey: string, sent: StepReport): string | undefined {
    const { status, progress, jobProgressStart: start, jobProgressEnd: end, message, output, failJob } = sent;
    const calculated =
      progress === undefined || start === undefined || end === undefined
        ? undefined
        : Math.round((start + (progress / 100) * (end - start)) * 1e9) / 1e9;
    const completes = status !== "failed" && calculated === 100;
    if (completes && !output) return "output_required";
    let step = this.steps.find((one) => one.stepKey === stepKey);
    if (!step) {
      if (sent.stepName === undefined) return "invalid_body";
      step = { stepKey, stepName: "", status: "running", progress: 0, message: null, output: null, attempts: 1 };
      this.steps.push(step);
    } else if (status === "running" && step.status !== "running") step.attempts++;
    Object.assign(step, {
      stepName: sent.stepName ?? step.stepName,
      status: status ?? step.status,
      progress: progress ?? step.progress,
      message: message ?? step.message,
      output: output ?? step.output,
    });
    this.#reported = [...this.#reported.filter((key) => key !== stepKey), stepKey];
    if (message !== undefined) this.message = message;
    if (calculated !== undefined && !(status === "failed" && calculated === 100)) {
      this.progress = Math.max(this.progress, calculated);
    }
    if (completes) Object.assign(this, { status: "completed", output });
    if (status === "failed" && failJob)
      Object.assign(this, { status: "failed", message: step.message ?? this.message });
    return undefined;
  }

  get current(): string | null {
    const isRunning = (key: string) => this.steps.some((step) => step.stepKey === key && step.status === "running");
    return this.#reported.findLast(isRunning) ?? null;
  }
}

const percent = fc.constantFrom(0, 10, 33.3, 50, 66.7, 99, 100);
const anyReport = fc.record({
  jobId: fc.constantFrom("a", "b", "c"),
  stepKey: fc.constantFrom("one", "two", "three"),
  report: fc.record(
    {
      stepName: fc.constantFrom("First", "Second"),
      status: fc.constantFrom("running" as const, "completed" as const, "failed" as const),
      progress: percent,
      jobProgressStart: fc.constantFrom(0, 33.3, 50),
      jobProgressEnd: fc.constantFrom(50, 100),
      message: fc.string({ minLength: 1, maxLength: 4 }),
      output: fc.record({ n: fc.integer() }),
      failJob: fc.boolean(),
    },
    { requiredKeys: [] },
  ),
});
/** Concurrent reports, optionally followed by a change, a deletion, or a deletion and creation of a job. */
const anyWave = fc.record({
  reports: fc.array(anyReport, { minLength: 1, maxLength: 40 }),
  next: fc.record({
    jobId: fc.constantFrom("a", "b", "c"),
    act: fc.constantFrom("nothing", "nothing", "change", "delete", "renew"),
    byOther: fc.boolean(),
  }),
});

describe("writeReports: concurrent reports", () => {
  useOwnMongod();
  const { app, openProcess, codeOf, stored, byKey } = useReports();
  const modelled = ({ status, progress, message, output, current, steps }: ModelJob) => ({
    status,
    progress,
    message,
    output,
    current,
    steps: [...steps].sort(byKey),
  });

  it("have the same effect as sequential ones, even if jobs are deleted and created again in between", async () => {
    let sent = 0;

    await fc.assert(
      fc.asyncProperty(fc.array(anyWave, { minLength: 1, maxLength: 6 }), async (waves) => {
        const [stores, other] = [openProcess(), openProcess()];
        const models = new Map(["a", "b"].map((jobId) => [jobId, new ModelJob()]));
        await stores.jobs.collection.native.deleteMany({});
        for (const jobId of models.keys()) await stores.jobs.put(jobId, {});
        for (const { reports, next } of waves) {
          sent += reports.length;
          const answers = await Promise.all(
            reports.map(({ jobId, stepKey, report }) => reportStep(stores, jobId, stepKey, report).catch(codeOf)),
          );
          for (const [i, { jobId, stepKey, report }] of reports.entries()) {
            const model = models.get(jobId);
            const refused = model ? model.report(stepKey, report) : undefined;
            // A report that is invalid for two reasons may be rejected for either.
            if (model && refused === undefined) expect(answers[i]).to.have.property("step");
            else expect(answers[i]).to.be.oneOf(model ? [refused] : ["job_not_found", "output_required"]);
          }
          const actor = next.byOther ? other : stores;
          if (next.act === "change" && models.has(next.jobId)) await actor.jobs.put(next.jobId, { description: "new" });
          const isOver = next.act === "delete" || next.act === "renew";
          if (isOver && models.delete(next.jobId)) await deleteJob(actor, next.jobId);
          if (next.act === "renew") {
            await actor.jobs.put(next.jobId, {});
            models.set(next.jobId, models.get(next.jobId) ?? new ModelJob());
          }
        }
        for (const [jobId, model] of models) expect(await stored(stores, jobId)).to.deep.equal(modelled(model));
        expect(await stores.jobs.collection.native.countDocuments()).to.equal(models.size);
      }),
      runs(60),
    );

    expect(sent).to.be.greaterThan(cases(500));
  });

  it("keep every rule if several processes report on the same steps at once", async () => {
    const processes = Array.from({ length: 3 }, openProcess);
    await app.stores.jobs.put("a", {});
    const values = Array.from({ length: 300 }, (_, i) => (i * 37) % 99);

    const answers = await Promise.all(
      values.map((progress, i) => {
        const status = i % 7 === 0 ? ("failed" as const) : ("running" as const);
        const report = { stepName: "S", status, progress, jobProgressStart: 0, jobProgressEnd: 100, message: `m${i}` };
        return reportStep(processes[i % 3] as Stores, "a", `step-${i % 5}`, report);
      }),
    );
    const { steps, ...job } = await stored(app.stores, "a");
    const { current, steps: all = {} } = (await app.stores.jobs.collection.native.findOne({ jobId: "a" }))!;
    const running = Object.values(all).filter(({ status }) => status === "running");
    const last = running.sort((one, other) => other.seq - one.seq)[0] ?? null;

    expect(answers.filter(({ created }) => created)).to.have.length(5);
    expect(job.progress).to.equal(Math.max(...values));
    expect(steps).to.have.length(5);
    expect(job.current).to.equal(last?.stepKey ?? null);
    expect(current).to.deep.equal(last);
  });

  it("take effect on a job that was changed by hand", async () => {
    const [stores, other] = [openProcess(), openProcess()];
    await stores.jobs.put("a", {});
    const whole = { stepName: "S", jobProgressStart: 0, jobProgressEnd: 100 };
    const report = (progress: number, message: string) => reportStep(stores, "a", "s", { ...whole, progress, message });
    await report(10, "one");

    await other.jobs.put("a", { progress: 50, message: "by hand", name: "Named", staleAfterSeconds: 5 });
    await report(20, "one");
    const said = await readJob(stores, "a", {});
    await other.jobs.put("a", { status: "failed" });
    await report(30, "two");

    expect(said).to.include({ progress: 50, message: "one", name: "Named", staleAfterSeconds: 5 });
    const after = await readJob(stores, "a", {});
    expect(after).to.include({ status: "failed", progress: 50, message: "two", stale: false });
    expect(after.currentStep).to.include({ progress: 30 });
  });

  it("do not decrease times that a process with a fast clock has set", async () => {
    const began = Date.now();
    let seconds = 0;
    const openAt = (ahead: number) =>
      openStores(app.database, { now: () => new Date(began + (seconds + ahead) * 1_000) }, { staleAfterSeconds: 900 });
    const [stores, other] = [openAt(0), openAt(30)];
    await stores.jobs.put("a", {});
    await reportStep(stores, "a", "s", { stepName: "S", progress: 1 });

    seconds = 100;
    await other.jobs.put("a", { message: "by hand" });
    await reportStep(stores, "a", "s", { progress: 2 });

    const { updatedAt, lastReportAt, staleAt, currentStep } = await readJob(stores, "a", {});
    expect(currentStep).to.include({ progress: 2 });
    const times = [updatedAt, lastReportAt, staleAt].map((time) => (Date.parse(String(time)) - began) / 1_000);
    expect(times).to.deep.equal([130, 130, 1_030]);
  });

  it("are applied if their job is created between their update and the read of the answer", async () => {
    const { jobs } = app.stores;
    const bulkWrite = jobs.collection.bulkWrite.bind(jobs.collection);
    const stub = sinon.stub(jobs.collection, "bulkWrite").callsFake(async (...write) => {
      const written = await bulkWrite(...write);
      stub.restore();
      await jobs.put("created-late", {});
      return written;
    });

    const { step } = await reportStep(app.stores, "created-late", "a", { stepName: "A", progress: 40 });

    expect(step).to.include({ stepKey: "a", progress: 40 });
  });

  it("restart a step that had ended, even if a process's clock is slow", async () => {
    const { stores } = app;
    const behind = openStores(
      app.database,
      { now: () => new Date(Date.now() - 3_600_000) },
      { staleAfterSeconds: 900 },
    );
    await stores.jobs.put("a", {});
    await reportStep(stores, "a", "s", { stepName: "S", status: "failed", message: "no" });

    await reportStep(behind, "a", "s", { status: "running", progress: 0 });
    await reportStep(behind, "a", "s", { progress: 7, message: "again" });

    const { currentStep, step } = await readJob(stores, "a", { stepKey: "s" });
    for (const read of [currentStep, step]) {
      expect(read).to.include({ status: "running", progress: 7, message: "again", attempts: 2 });
    }
  });

  it("make the step with the newest report current, even if another process's clock is fast", async () => {
    const ahead = openStores(
      app.database,
      { now: () => new Date(app.clock.now().getTime() + 900) },
      { staleAfterSeconds: 900 },
    );
    const seen: (string | undefined)[] = [];
    const report = async (by: Stores, stepKey: string, more: object = {}) => {
      await reportStep(by, "a", stepKey, { stepName: stepKey, ...more });
      seen.push((await readJob(app.stores, "a", {})).currentStep?.stepKey);
    };
    await ahead.jobs.put("a", {});

    for (const [by, stepKey] of [
      [ahead, "one"],
      [app.stores, "two"],
      [ahead, "one"],
      [app.stores, "two"],
      [app.stores, "three"],
    ] as const) {
      await report(by, stepKey);
    }
    await report(ahead, "three", { status: "completed" });
    await Promise.all(["four", "five"].map((stepKey) => report(app.stores, stepKey)));

    expect(seen).to.deep.equal(["one", "two", "one", "two", "three", "two", "five", "five"]);
  });

  it("on one step are applied in one batch, in the order of arrival, and leave only the newest output", async () => {
    const { stores } = app;
    await stores.jobs.put("a", {});
    await reportStep(stores, "a", "s", { stepName: "S", output: { n: -1 } });
    const write = sinon.spy(stores.jobs.collection, "bulkWrite");
    const numbers = Array.from({ length: 100 }, (_, n) => n);

    const answers = await Promise.all(
      numbers.map((n) => reportStep(stores, "a", "s", { progress: n, message: `m${n}`, output: { n } })),
    );
    const sizes = write.args.map(([updates]) => updates.length);
    write.restore();

    expect(sizes.length, `batches of ${sizes}`).to.be.at.most(3);
    expect(answers.filter(({ created }) => created)).to.have.length(0);
    const { step } = await readJob(stores, "a", { stepKey: "s" });
    expect(step).to.deep.include({ progress: 99, message: "m99", output: { n: 99 } });
    expect(await stores.payloads.collection.countDocuments({})).to.equal(1);
  });

  it("on one step are rejected before the one that creates it, and applied after it", async () => {
    const { stores } = app;
    await stores.jobs.put("a", {});
    await stores.jobs.put("b", {});
    const report = (jobId: string, more: StepReport) =>
      reportStep(stores, jobId, "s", more).then(({ created }) => created, codeOf);

    const answers = await Promise.all([
      report("a", { progress: 90 }),
      report("b", { progress: 1 }),
      report("a", { stepName: "S", progress: 10 }),
      report("a", { progress: 20 }),
      report("a", { stepName: "T", status: "failed" }),
      report("b", { progress: 2 }),
    ]);

    expect(answers).to.deep.equal(["invalid_body", "invalid_body", true, false, false, "invalid_body"]);
    expect((await stored(stores, "a")).steps).to.deep.equal([
      { stepKey: "s", stepName: "T", status: "failed", progress: 20, message: null, output: null, attempts: 1 },
    ]);
    expect((await stored(stores, "b")).steps).to.deep.equal([]);
  });

  it("are applied except for the one that cannot be written", async () => {
    const { stores } = app;
    for (const jobId of ["a", "b", "c"]) await stores.jobs.put(jobId, {});
    const whole = { stepName: "S", progress: 50, jobProgressStart: 0, jobProgressEnd: 100 };

    const answers = await Promise.all(
      ["a", "b", "c"].map((jobId) => {
        const message = jobId === "b" ? "x".repeat(17 * 1024 * 1024) : "fine";
        return reportStep(stores, jobId, "s", { ...whole, message }).catch(codeOf);
      }),
    );

    expect(answers[1]).to.equal("body_too_large");
    for (const jobId of ["a", "c"]) expect(await stored(stores, jobId)).to.include({ progress: 50, message: "fine" });
    expect(await stored(stores, "b")).to.deep.include({ progress: 0, message: null, steps: [] });
  });

  it("are rejected one by one: without a job, without a stepName, without room in the document", async () => {
    const { stores } = app;
    for (const jobId of ["a", "b", "full"]) await stores.jobs.put(jobId, {});
    await fill("full");
    const named = { stepName: "S", progress: 50, jobProgressStart: 0, jobProgressEnd: 100 };
    const report = (jobId: string, stepKey: string, more: object) =>
      reportStep(stores, jobId, stepKey, { ...more, output: { n: 1 } }).then(({ created }) => created, codeOf);

    const answers = await Promise.all([
      report("a", "one", named),
      report("nobody", "one", named),
      report("b", "one", { progress: 1 }),
      report("full", "new", named),
      report("full", "step-0", { progress: 7 }),
      report("b", "one", named),
      report("b", "one", { message: "second" }),
    ]);

    expect(answers).to.deep.equal([true, "job_not_found", "invalid_body", "too_many_steps", false, true, false]);
    expect(await stored(stores, "b")).to.deep.include({ progress: 50, message: "second", current: "one" });
    expect((await readJob(stores, "full", { stepKey: "step-0" })).step).to.include({ progress: 7 });
    expect((await readJob(stores, "full", { stepKey: "new" })).step).to.equal(null);
    expect(await stores.payloads.collection.native.distinct("jobId")).to.have.members(["a", "b", "full"]);
    expect(await stores.payloads.collection.native.countDocuments()).to.equal(3);
  });

  /** Adds steps of 12 MB to a job. */
  async function fill(jobId: string): Promise<void> {
    await reportStep(app.stores, jobId, "step-0", { stepName: "S", message: "m".repeat(64_000) });
    const { collection } = app.stores.jobs;
    const like = (await collection.findOne({ jobId }))!.steps!["step-0"]!;
    const steps = Array.from({ length: 196 }, (_, i) => [`steps.step-${i}`, { ...like, stepKey: `step-${i}` }]);
    await collection.updateOne({ jobId }, { $set: Object.fromEntries(steps) });
  }
});
