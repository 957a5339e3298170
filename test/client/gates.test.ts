import { expect } from "chai";
import { CancelledError, createClient, type SignalboxError } from "../../src/client/client.ts";
import type { TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { createJob } from "../support/factories.ts";
import { startFollowingApp } from "../support/waiting.ts";
import { useShortBackoff } from "./shortBackoff.ts";

const SCHEMA = { type: "object", properties: { batch: { type: "integer" } }, required: ["batch"] };
const QUESTION = { title: "Publish?", schema: SCHEMA, expiresIn: 3_600 };

describe("signalbox/client gates", () => {
  useShortBackoff();
  let app: TestApp;
  let jobId: string;
  before(async () => {
    app = await startFollowingApp();
  });
  after(() => app.close());
  beforeEach(async () => {
    ({ jobId } = await createJob(app));
  });
  const client = () => createClient({ url: app.url });
  const isWaiting = (count = 1) => eventually(() => app.waiting() === count, "the request to wait");

  it("job.gate: opens the gate, waits, and returns the answer", async () => {
    const asked = client().job(jobId).gate("publish", QUESTION);
    await isWaiting();
    const gate = await client().gates.get(jobId, "publish");
    expect(gate).to.deep.include({ title: "Publish?", requestedSchema: SCHEMA, status: "open", message: null });
    expect(Date.parse(gate.expiresAt ?? "") - Date.now()).to.be.within(3_500_000, 3_600_000);

    await client().gates.answer(jobId, "publish", { action: "accept", content: { batch: 5 }, answeredBy: "Ann" });
    expect(await asked).to.deep.equal({ action: "accept", content: { batch: 5 } });
  });

  it("job.gate: called again after a crash, waits for the same answer, and does not move the time", async () => {
    const crashed = new AbortController();
    const first = client()
      .job(jobId)
      .gate("publish", { ...QUESTION, signal: crashed.signal });
    await isWaiting();
    const before = await client().gates.get(jobId, "publish");
    crashed.abort(new Error("crashed"));
    expect(await first.catch(({ message }) => message)).to.equal("crashed");
    await isWaiting(0);

    const second = client()
      .job(jobId)
      .gate("publish", { ...QUESTION, title: "Publish all?" });
    await isWaiting();
    const { gates } = await client().gates.list({ status: "open" });
    expect(gates[0]).to.deep.equal({ ...before, jobName: null, title: "Publish all?", revision: 2 });
    await client().gates.answer(jobId, "publish", { action: "decline" });
    expect(await second).to.deep.equal({ action: "decline", content: null });
    expect(await client().job(jobId).gate("publish", QUESTION)).to.deep.equal({ action: "decline", content: null });
  });

  it("job.gate: returns cancel for a withdrawn gate, and the action of one that has expired", async () => {
    const asked = client().job(jobId).gate("publish", { title: "Publish?" });
    await isWaiting();
    await client().gates.withdraw(jobId, "publish");
    expect(await asked).to.deep.equal({ action: "cancel", content: null });
    const expiring = await client().job(jobId).gate("other", { title: "Publish?", expiresIn: 0.3, onExpiry: "accept" });
    expect(expiring).to.deep.equal({ action: "accept", content: null });
  });

  const outcome = (asked: Promise<unknown>) => asked.catch((error: Error) => [error.name, error.message]);

  it("job.gate: throws a CancelledError as soon as cancellation of the job is requested", async () => {
    const asked = outcome(client().job(jobId).gate("publish", QUESTION));
    await isWaiting();
    await client().jobs.cancel(jobId, { reason: "Not needed" });
    expect(await asked).to.deep.equal(["CancelledError", "Cancelled: Not needed"]);
    expect(await outcome(client().job(jobId).gate("publish", QUESTION))).to.deep.equal(await asked);
  });

  for (const [how, end, code] of [
    ["cancelled by force", () => client().jobs.cancel(jobId, { reason: "Late", force: true }), undefined],
    ["failed by another program", () => client().job(jobId).fail("no more rows"), "job_ended"],
    ["completed by another program", () => client().job(jobId).complete({ output: {} }), "job_ended"],
  ] as const)
    it(`job.gate: throws as soon as the job is ${how}, and when it is called afterwards`, async () => {
      const ask = (key: string) =>
        client()
          .job(jobId)
          .gate(key, QUESTION)
          .catch((error: unknown) => error);
      const asked = ask("publish");
      await isWaiting();
      await end();
      for (const error of [await asked, await ask("another")])
        if (code) expect(error).to.include({ name: "SignalboxError", code });
        else expect(error).to.be.instanceOf(CancelledError).with.property("reason", "Late");
    });

  it("job.gate: in the work of a step, fails step and job when the job is cancelled", async () => {
    const job = client().job(jobId);
    const work = job.step("publish", { name: "Publish" }).run(() => job.gate("publish", QUESTION));
    const ended = outcome(work);
    await isWaiting();
    await client().jobs.cancel(jobId, { reason: "Not needed" });

    expect(await ended).to.deep.equal(["CancelledError", "Cancelled: Not needed"]);
    const read = await client().jobs.get(jobId, { include: "steps" });
    expect(read).to.include({ status: "failed", message: "Cancelled: Not needed" });
    expect(read.steps?.[0]).to.include({ status: "failed", message: "Cancelled: Not needed" });
  });

  it("job.gate: asks the same question again once the job is started again", async () => {
    const asked = outcome(client().job(jobId).gate("publish", QUESTION));
    await isWaiting();
    await client().jobs.cancel(jobId, { force: true });
    expect(await asked).to.deep.equal(["CancelledError", "Cancelled"]);

    await client().job(jobId).start();
    const again = client().job(jobId).gate("publish", QUESTION);
    await isWaiting();
    await client().gates.answer(jobId, "publish", { action: "decline" });
    expect(await again).to.deep.equal({ action: "decline", content: null });
  });

  it("job.gate: returns the answer although the job was cancelled or has ended after it", async () => {
    const answered = { action: "decline", content: null };
    await app.call("PUT", `/api/jobs/${jobId}/gates/publish`, { title: "Publish?" });
    await client().gates.answer(jobId, "publish", { action: "decline" });
    await client().jobs.cancel(jobId);
    expect(await client().job(jobId).gate("publish", QUESTION)).to.deep.equal(answered);
    await client().jobs.cancel(jobId, { force: true });
    expect(await client().job(jobId).gate("publish", QUESTION)).to.deep.equal(answered);
  });

  it("job.gate: throws the error of a bad question and of a missing job", async () => {
    const code = (promise: Promise<unknown>) => promise.catch((error: SignalboxError) => error.code);
    expect(await code(client().job(jobId).gate("publish", { title: "" }))).to.equal("invalid_body");
    expect(await code(client().job("missing").gate("publish", QUESTION))).to.equal("job_not_found");
  });

  it("gates.answer: throws gate_answered for a second answer", async () => {
    await app.call("PUT", `/api/jobs/${jobId}/gates/publish`, { title: "Publish?" });
    await client().gates.answer(jobId, "publish", { action: "accept" });
    const second = await client()
      .gates.answer(jobId, "publish", { action: "decline" })
      .catch((error: SignalboxError) => error.code);
    expect(second).to.equal("gate_answered");
  });
});
