import { expect } from "chai";
import { mongo } from "mongoose";
import { readJob } from "../../../../src/models/jobs/read/readJobs.ts";
import { reportStep } from "../../../../src/models/jobs/reports/reportStep.ts";
import type { Stores } from "../../../../src/models/stores.ts";
import { useReports } from "../../../models/jobs/useReports.ts";
import { mongoUri, useOwnMongod } from "../../../support/servers/servers.ts";

async function stepDown(): Promise<void> {
  const client = await mongo.MongoClient.connect(await mongoUri("admin"));
  await client.db("admin").command({ replSetStepDown: 1, force: true });
  await client.close();
}

describe("writeReports: concurrent reports", () => {
  useOwnMongod();
  const { app, openProcess, codeOf, stored } = useReports();

  it("are applied however often other processes change their job meanwhile", async () => {
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

  it("are rejected with too_many_steps if they create a step on a job whose steps take 12 MB", async () => {
    const { stores } = app;
    await stores.jobs.put("full", {});
    await fill("full");
    const before = await stores.jobs.collection.native.findOne({ jobId: "full" });
    const report = (stepKey: string) => reportStep(stores, "full", stepKey, { stepName: "S" }).catch((error) => error);

    const refused = await report("new");
    const after = await stores.jobs.collection.native.findOne({ jobId: "full" });

    expect(refused).to.include({ code: "too_many_steps", status: 409 });
    expect(refused.message).to.match(/12 MB/);
    expect(after).to.deep.equal(before);
    expect((await report("step-1")).created).to.equal(false);
  });

  /** Adds steps of 12 MB to a job. */
  async function fill(jobId: string): Promise<void> {
    await reportStep(app.stores, jobId, "step-0", { stepName: "S", message: "m".repeat(64_000) });
    const { collection } = app.stores.jobs;
    const like = (await collection.findOne({ jobId }))!.steps!["step-0"]!;
    const steps = Array.from({ length: 196 }, (_, i) => [`steps.step-${i}`, { ...like, stepKey: `step-${i}` }]);
    await collection.updateOne({ jobId }, { $set: Object.fromEntries(steps) });
  }

  it("are written even if together they exceed the maximum size of a MongoDB command", async () => {
    const { stores } = app;
    const jobIds = Array.from({ length: 90 }, (_, i) => `large ${i}`);
    const message = "好".repeat(65_536); // The longest message that a client may send, at three bytes a character.
    for (const jobId of jobIds) await stores.jobs.put(jobId, {});
    const reportAll = (stepKey: string, more: object) =>
      Promise.all(jobIds.map((jobId) => reportStep(stores, jobId, stepKey, { stepName: stepKey, ...more })));

    await reportAll("one", {});
    await reportAll("one", { message });
    await reportAll("two", { message: "short" }); // With the job's stored message, one of these takes 600 KiB.

    for (const jobId of jobIds) {
      const { steps, currentStep } = await readJob(stores, jobId, { withSteps: true });
      expect(currentStep).to.include({ stepKey: "two", message: "short" });
      expect(steps?.map((step) => step.message)).to.deep.equal([message, "short"]);
    }
  });

  it("are all stored once they are acknowledged, even if MongoDB's primary steps down meanwhile", async () => {
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
