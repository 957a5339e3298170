import { expect } from "chai";
import { readJob } from "../../../src/models/jobs/read/readJobs.ts";
import { reportStep } from "../../../src/models/jobs/reports/reportStep.ts";
import { openStores } from "../../../src/models/stores.ts";
import { commandsOf } from "../../support/commandsOf.ts";
import { useSharedApp } from "../../support/useApp.ts";

const STEP = { stepName: "S", jobProgressStart: 0, jobProgressEnd: 100 };
const COMPLETION = { ...STEP, status: "completed", progress: 100, output: { ok: true } } as const;
const FAILURE = { ...STEP, status: "failed", failJob: true, message: "Broken" } as const;

describe("a request to cancel a job", () => {
  const app = useSharedApp();
  beforeEach(() => app.stores.jobs.collection.native.deleteMany({}));

  const openProcess = () => openStores(app.database, app.clock, { staleAfterSeconds: 900 });
  const codeOf = ({ code }: { code?: string }) => code;

  for (const force of [false, true]) {
    const kind = force ? "forced" : "plain";
    it(`never wins over a completion of the same moment (${kind})`, async () => {
      const [worker, operator] = [openProcess(), openProcess()];
      const orders = new Set<string>();

      for (let i = 0; i < 60; i++) {
        const jobId = `job-${i}`;
        await worker.jobs.put(jobId, {});
        const complete = () => reportStep(worker, jobId, "s", COMPLETION);
        const cancel = async () => {
          // Waits for none to nine other requests, so that either comes first at times.
          for (let n = Math.floor(i / 2) % 10; n > 0; n--)
            await operator.jobs.collection.native.db.command({ ping: 1 });
          return operator.jobs.cancel(jobId, { reason: "x", force }).catch(codeOf);
        };
        const [one, other] = i % 2 === 0 ? [complete(), cancel()] : [cancel(), complete()];
        const [first, second] = await Promise.all([one, other]);
        const answer = i % 2 === 0 ? second : first;
        const job = await readJob(app.stores, jobId, {});

        expect(job).to.include({ status: "completed", progress: 100 });
        expect(answer === "job_ended").to.equal(job.cancel === null);
        orders.add(answer === "job_ended" ? "completed first" : "cancelled first");
      }

      expect([...orders].sort()).to.deep.equal(["cancelled first", "completed first"]);
    });

    it(`comes before or after a failure of the same moment, which is then shown as cancelled or not (${kind})`, async () => {
      const [worker, operator] = [openProcess(), openProcess()];

      for (let i = 0; i < 30; i++) {
        const jobId = `job-${i}`;
        await worker.jobs.put(jobId, {});
        const [answer] = await Promise.all([
          operator.jobs.cancel(jobId, { reason: "x", force }).catch(codeOf),
          reportStep(worker, jobId, "s", FAILURE),
        ]);
        const job = await readJob(app.stores, jobId, {});

        expect(job).to.include({ status: "failed", message: "Broken" });
        expect(answer === "job_ended").to.equal(job.cancel === null);
      }
    });
  }

  it("appears in the answer to each of a hundred concurrent reports that were sent after it", async () => {
    const [worker, operator] = [openProcess(), openProcess()];
    await worker.jobs.put("a", {});
    const send = (from: number) =>
      Array.from({ length: 100 }, (_, i) =>
        reportStep(worker, "a", `step-${(from + i) % 40}`, { stepName: "S", progress: i % 99 }),
      );

    const during = send(0);
    const { job } = await operator.jobs.cancel("a", {});
    const early = await Promise.all(during);
    const late = await Promise.all(send(100));

    expect(job.cancel).to.not.equal(undefined);
    for (const { step } of late) expect(step.cancelRequested).to.equal(true);
    for (const { step } of early) expect(step.cancelRequested).to.be.oneOf([undefined, true]);
    const { seq } = await app.stores.jobs.find("a");
    expect(seq).to.equal(200);
  });

  it("of one job does not appear in answers to reports on others in the same batch", async () => {
    const { stores } = app;
    for (const jobId of ["a", "b"]) await stores.jobs.put(jobId, {});
    await stores.jobs.cancel("a", {});

    const answers = await Promise.all(
      Array.from({ length: 20 }, (_, i) => reportStep(stores, i % 2 === 0 ? "a" : "b", `s${i}`, { stepName: "S" })),
    );

    expect(answers.map(({ step }) => step.cancelRequested)).to.deep.equal(
      answers.map((_, i) => (i % 2 === 0 ? true : undefined)),
    );
  });

  it("costs a report no further command, whether it is sent alone or in a batch", async () => {
    const { stores } = app;
    for (const jobId of ["plain", "cancelled"]) await stores.jobs.put(jobId, {});
    await stores.jobs.cancel("cancelled", {});
    const alone = (jobId: string) => reportStep(stores, jobId, "s", { stepName: "S" });
    const together = (jobId: string) =>
      Promise.all(Array.from({ length: 50 }, (_, i) => reportStep(stores, jobId, `s${i}`, { stepName: "S" })));

    for (const send of [alone, together]) {
      const counts = [];
      for (const jobId of ["plain", "cancelled"]) counts.push(await commandsOf(app, () => send(jobId)));
      expect(counts[1]).to.deep.equal(counts[0]).and.not.deep.equal([]);
    }
  });

  it("of a job that ends and starts again meanwhile is stored or refused, and never stays with its next life", async () => {
    const [worker, operator] = [openProcess(), openProcess()];
    await worker.jobs.put("a", {});
    const restart = async () => {
      await worker.jobs.put("a", { status: "failed" });
      return worker.jobs.put("a", { status: "running" });
    };
    let isOver = false;
    const restartAgain = async () => {
      while (!isOver) await restart();
    };
    const restarting = restartAgain();

    const answers: unknown[] = [];
    for (let i = 0; i < 50; i++) {
      answers.push(await operator.jobs.cancel("a", {}).then(({ job }) => job.cancel !== undefined, codeOf));
    }
    isOver = true;
    await restarting;
    const { job } = await restart();

    for (const answer of answers) expect(answer).to.be.oneOf([true, "job_ended"]);
    expect(job).to.include({ status: "running" }).and.not.have.property("cancel");
  });
});
