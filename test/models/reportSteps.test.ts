import { expect } from "chai";
import fc from "fast-check";
import { mongo } from "mongoose";
import { deleteJob } from "../../src/models/commands/deleteJobs.ts";
import { listSteps, readJob, readStep } from "../../src/models/commands/readJobs.ts";
import { reportStep, type StepReport } from "../../src/models/commands/reportStep.ts";
import { type ReportOutcome, reportSteps } from "../../src/models/commands/reportSteps.ts";
import { upToDate } from "../../src/models/reportedJob.ts";
import type { StepChange } from "../../src/models/step.ts";
import { openStores, type Stores } from "../../src/models/stores.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { runs } from "../support/random.ts";
import { mongoUri, useOwnMongod } from "../support/servers.ts";

interface ModelStep {
  stepKey: string;
  stepName: string;
  status: string;
  progress: number;
  message: string | null;
  output: object | null;
  attempts: number;
}

/** A job and the rules of the contract, as plainly as they can be written. */
class ModelJob {
  status = "running";
  progress = 0;
  message: string | null = null;
  output: object | null = null;
  readonly steps: ModelStep[] = [];
  /** The keys of the steps as they were reported, the latest last. */
  #reported: string[] = [];

  /** @returns the code of the error that refuses it */
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
      ...{ stepName: sent.stepName ?? step.stepName, status: status ?? step.status },
      ...{ progress: progress ?? step.progress, message: message ?? step.message, output: output ?? step.output },
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
/** Reports that arrive at once, then perhaps a job that some process changes or deletes, or deletes and makes anew. */
const anyWave = fc.record({
  reports: fc.array(anyReport, { minLength: 1, maxLength: 40 }),
  next: fc.record({
    jobId: fc.constantFrom("a", "b", "c"),
    act: fc.constantFrom("nothing", "nothing", "change", "delete", "renew"),
    byOther: fc.boolean(),
  }),
});

async function stepDown(): Promise<void> {
  const client = await mongo.MongoClient.connect(await mongoUri("admin"));
  await client.db("admin").command({ replSetStepDown: 1, force: true });
  await client.close();
}

describe("reports that arrive together", () => {
  useOwnMongod();
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  after(() => app.close());
  beforeEach(() => Promise.all([app.stores.jobs, app.stores.steps].map(({ collection }) => collection.deleteMany({}))));

  const openProcess = () => openStores(app.database, app.clock, { staleAfterSeconds: 900 });
  const codeOf = ({ code }: { code?: string }) => code;
  /** What can be compared with the model. */
  async function stored(stores: Stores, jobId: string) {
    const { status, progress, message, output, currentStep, steps } = await readJob(stores, jobId, { withSteps: true });
    const shown = (steps ?? []).map(({ stepKey, stepName, status, progress, message, output, attempts }) => ({
      ...{ stepKey, stepName, status, progress, message, output, attempts },
    }));
    return { status, progress, message, output, current: currentStep?.stepKey ?? null, steps: shown.sort(byKey) };
  }
  const byKey = (one: { stepKey: string }, other: { stepKey: string }) => (one.stepKey < other.stepKey ? -1 : 1);
  const modelled = ({ status, progress, message, output, current, steps }: ModelJob) => ({
    ...{ status, progress, message, output, current, steps: [...steps].sort(byKey) },
  });

  it("end as if they had come one after the other, whatever is deleted and made anew in between", async function () {
    this.timeout(120_000);
    let sent = 0;

    await fc.assert(
      fc.asyncProperty(fc.array(anyWave, { minLength: 1, maxLength: 6 }), async (waves) => {
        const [stores, other] = [openProcess(), openProcess()];
        const models = new Map(["a", "b"].map((jobId) => [jobId, new ModelJob()]));
        await Promise.all([stores.jobs.collection.deleteMany({}), stores.steps.collection.deleteMany({})]);
        for (const jobId of models.keys()) await stores.jobs.put(jobId, {});
        for (const { reports, next } of waves) {
          sent += reports.length;
          const answers = await Promise.all(
            reports.map(({ jobId, stepKey, report }) => reportStep(stores, jobId, stepKey, report).catch(codeOf)),
          );
          for (const [i, { jobId, stepKey, report }] of reports.entries()) {
            const model = models.get(jobId);
            const refused = model ? model.report(stepKey, report) : undefined;
            // of one that is refused for two reasons either may be told
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
        expect(await stores.jobs.collection.countDocuments()).to.equal(models.size);
      }),
      runs(60),
    );

    expect(sent).to.be.greaterThan(1_000);
  });

  it("keep every rule when several processes report on the same steps at once", async () => {
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
    const known = await app.stores.jobs.find("a");
    const all = await app.stores.steps.collection.find({ job: known._id }).toArray();
    const running = all.map((step) => upToDate(step, known)).filter(({ status }) => status === "running");
    const looked = running.sort((one, other) => other.reportedAt - one.reportedAt)[0];

    expect(answers.filter(({ created }) => created)).to.have.length(5);
    expect(job.progress).to.equal(Math.max(...values));
    expect(steps).to.have.length(5);
    expect(known.currentKnown).to.equal(true);
    expect(job.current).to.equal(looked?.stepKey ?? null);
    const { reportedAt, status, progress } = known.current ?? {};
    expect([reportedAt, status, progress]).to.deep.equal([looked?.reportedAt, looked?.status, looked?.progress]);
  });

  it("on the step that is current are written with the job alone, and read everywhere; the step keeps them when another takes over", async () => {
    const { stores } = app;
    await stores.jobs.put("a", {});
    const report = (stepKey: string, more: object) => reportStep(stores, "a", stepKey, { stepName: stepKey, ...more });
    const writes = async () =>
      (await stores.steps.collection.find({}).sort({ createdAt: 1 }).toArray()).map(({ rev }) => rev);
    await report("one", { progress: 10 });
    const created = await writes();

    for (const progress of [20, 30]) await report("one", { progress, message: `at ${progress}` });
    const kept = await writes();
    const whole = await readJob(stores, "a", { stepKey: "one", withSteps: true });
    const listed = (await listSteps(stores, "a", { limit: 10 })).steps;
    await report("two", { progress: 1 });
    const [stored] = await stores.steps.collection.find({ stepKey: "one" }).toArray();

    expect(kept).to.deep.equal(created);
    const now = { status: "running", progress: 30, message: "at 30", attempts: 1 };
    for (const read of [
      whole.currentStep,
      whole.step,
      whole.steps?.[0],
      listed[0],
      await readStep(stores, "a", "one"),
    ]) {
      expect(read).to.include({ ...now, updatedAt: whole.currentStep?.updatedAt });
    }
    expect(stored).to.include(now);
  });

  it("on the step that is current are written without a look at the job, as long as nobody else changes it", async () => {
    const [stores, other] = [openProcess(), openProcess()];
    await stores.jobs.put("a", {});
    const look = stores.jobs.findForReports.bind(stores.jobs);
    let looks = 0;
    stores.jobs.findForReports = (jobIds) => {
      looks++;
      return look(jobIds);
    };
    const report = async (progress: number) => {
      await reportStep(stores, "a", "s", { stepName: "S", progress });
      return looks;
    };

    const known = [await report(1), await report(2), await report(3)];
    await other.jobs.put("a", { message: "changed" });
    const changed = [await report(4), await report(5)];
    await reportStep(other, "a", "s", { progress: 6 });
    const reported = [await report(7), await report(8)];

    expect(known).to.deep.equal([1, 1, 1]);
    expect(changed).to.deep.equal([1, 1]);
    expect(reported).to.deep.equal([2, 3]);
    const { message, currentStep } = await readJob(stores, "a", {});
    expect({ message, progress: currentStep?.progress }).to.deep.equal({ message: "changed", progress: 8 });
  });

  it("say what they mean of a job that was changed by hand, though they do not look at it", async () => {
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

  it("take no time back that was set by hand meanwhile, by a process whose clock is ahead", async () => {
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

  it("are taken however often their job is changed by hand meanwhile, by whichever process", async () => {
    const [stores, other] = [openProcess(), openProcess()];
    await stores.jobs.put("a", {});
    let isOver = false;
    const change = async (process: Stores, field: string) => {
      for (let i = 0; !isOver; i++) await process.jobs.put("a", { [field]: field === "metadata" ? { i } : `${i}` });
    };
    const changing = ["metadata", "message", "name"].flatMap((field) => [change(stores, field), change(other, field)]);
    const sent = Array.from({ length: 20 }, (_, i) => i);

    const output = { rows: 7 };
    const last = { progress: 100, jobProgressStart: 0, jobProgressEnd: 100, output };
    try {
      for (const i of sent) await reportStep(stores, "a", `step-${i}`, { stepName: "S", status: "completed" });
      await reportStep(stores, "a", "last", { stepName: "S", ...last });
    } finally {
      isOver = true;
      await Promise.all(changing);
    }

    const { status, progress, steps, ...job } = await stored(stores, "a");
    expect({ status, progress, output: job.output }).to.deep.equal({ status: "completed", progress: 100, output });
    expect(steps).to.have.length(sent.length + 1);
  });

  it("begin anew a step that had ended, whichever process's clock is behind", async () => {
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

  it("make current the step that was reported last, though another process's clock is ahead", async () => {
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

  it("count an attempt once where another process reports between the writing of the step and of its job", async () => {
    const { jobs, steps } = app.stores;
    await jobs.put("a", {});
    await reportStep(app.stores, "a", "s", { stepName: "S", progress: 10 });
    let writes = 0;
    const between = {
      ...{ findForReports: jobs.findForReports.bind(jobs), reported: jobs.reported.bind(jobs), known: () => undefined },
      async write(...changed: Parameters<typeof jobs.write>) {
        if (writes++ === 0) await reportStep(openProcess(), "a", "other", { stepName: "Other", status: "failed" });
        return jobs.write(...changed);
      },
    } as unknown as typeof jobs;
    const judged = (change: StepChange) => ({ jobId: "a", stepKey: "s", change, effect: {} });

    const [first, second] = await reportSteps({ jobs: between, steps }, [
      judged({ status: "failed", message: "no" }),
      judged({ status: "running", progress: 0, output: "{}" }),
    ]);

    expect(writes).to.equal(2);
    expect([first, second].map((one) => (one as ReportOutcome).step.status)).to.deep.equal(["failed", "running"]);
    const { currentStep, step } = await readJob(app.stores, "a", { stepKey: "s" });
    for (const read of [currentStep, step]) expect(read).to.include({ status: "running", attempts: 2, message: "no" });
  });

  const turns: [was: "running" | "failed", made: "running" | "failed", endedAfterMinutes: [number, number]][] = [
    ["failed", "running", [1, 2]],
    ["running", "failed", [2, 3]],
  ];
  for (const [was, made, endedAfterMinutes] of turns) {
    it(`fail a job that was ${was} when it was read, and is made ${made} by hand then, with the right time of its end`, async () => {
      const { jobs, steps } = openProcess();
      await jobs.put("a", { status: was });
      const began = app.clock.now();
      const write = jobs.write.bind(jobs);
      jobs.write = async (changed) => {
        app.clock.advance(60_000);
        await jobs.put("a", { status: made });
        return write(changed);
      };
      const effect = { ends: { status: "failed" as const } };

      app.clock.advance(60_000);
      await reportSteps({ jobs, steps }, [{ jobId: "a", stepKey: "s", change: { stepName: "S" }, effect }]);

      const { status, endedAt } = await jobs.find("a");
      expect(status).to.equal("failed");
      expect((Number(endedAt) - Number(began)) / 60_000).to.be.within(...endedAfterMinutes);
    });
  }

  it("fail alone where one of them cannot be written", async () => {
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

  it("are written also where together they are more than MongoDB takes at once", async () => {
    const { stores } = app;
    const jobIds = Array.from({ length: 90 }, (_, i) => `large ${i}`);
    const message = "好".repeat(65_536); // three bytes each, the longest that a client may send
    for (const jobId of jobIds) await stores.jobs.put(jobId, {});
    const reportAll = (stepKey: string, more: object) =>
      Promise.all(jobIds.map((jobId) => reportStep(stores, jobId, stepKey, { stepName: stepKey, ...more })));

    await reportAll("one", {});
    await reportAll("one", { message });
    await reportAll("two", { message: "short" }); // with each of these the other step is written, with its message

    for (const jobId of jobIds) {
      const { steps, currentStep } = await readJob(stores, jobId, { withSteps: true });
      expect(currentStep).to.include({ stepKey: "two", message: "short" });
      expect(steps?.map((step) => step.message)).to.deep.equal([message, "short"]);
    }
  });

  it("leave nothing undone that was answered when MongoDB steps down in the middle of them", async function () {
    this.timeout(60_000);
    const { stores } = app;
    await stores.jobs.put("a", {});
    const whole = { stepName: "S", jobProgressStart: 0, jobProgressEnd: 100 };
    const answered = new Set<number>();
    const send = async (i: number) => {
      await reportStep(stores, "a", `step-${i}`, { ...whole, progress: i / 10, message: `m${i}` }).then(
        () => answered.add(i),
        (error: unknown) => expect(codeOf(error as object)).to.equal("unavailable"),
      );
    };

    const sending = (async () => {
      for (let i = 0; i < 600; i += 20) await Promise.all(Array.from({ length: 20 }, (_, k) => send(i + k)));
    })();
    await stepDown();
    await sending;
    const missing = Array.from({ length: 600 }, (_, i) => i).filter((i) => !answered.has(i));
    const before = await stored(stores, "a");
    for (const i of missing) await send(i);
    const after = await stored(stores, "a");

    const keys = new Set(before.steps.map(({ stepKey }) => stepKey));
    expect([...answered].slice(0, 600 - missing.length).every((i) => keys.has(`step-${i}`))).to.equal(true);
    expect(after.steps).to.have.length(600);
    expect(after.steps.every(({ attempts }) => attempts === 1)).to.equal(true);
    expect(after.progress).to.equal(59.9);
  });
});
