import { expect } from "chai";
import { RunBudgets } from "../../../src/workers/runs/budgets.ts";
import { eventually } from "../../support/eventually.ts";
import { startWorker } from "../../support/worker.ts";
import { BudgetFixture } from "./budgetFixture.ts";

describe("a run that waits for a budget", () => {
  const fixture = new BudgetFixture();

  it("ends a run whose answer comes in the next period by that answer", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 3, then: "ask" }]);
    await fixture.spend();
    const runId = await fixture.send();
    await fixture.reached(runId, "waiting");
    const [gate] = await fixture.openGates();
    fixture.app.clock.advance(86_400_000);

    await fixture.answer(gate, "decline");

    expect((await fixture.ended(runId)).error.message).to.include("was not raised");
    expect((await fixture.ended(await fixture.send())).status).to.equal("completed");
  });

  it("lets a run that waits be cancelled, and another that waited for its question ask anew", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 3, then: "ask" }]);
    await fixture.spend();
    const first = await fixture.send();
    await fixture.reached(first, "waiting");
    const second = await fixture.send();
    await fixture.reached(second, "waiting");

    await fixture.app.call("POST", `/api/runs/${first}/cancel`, {});

    expect((await fixture.ended(first)).error.code).to.equal("cancelled");
    const gate = await eventually(
      async () => (await fixture.openGates()).find(({ jobId }: { jobId: string }) => jobId === second),
      "the second run to ask",
    );
    await fixture.answer(gate, "accept");
    expect((await fixture.ended(second)).status).to.equal("completed");
  });

  it("resumes runs after Redis was emptied, or the process that took the answer died", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 3, then: "ask" }]);
    await fixture.spend();
    const runId = await fixture.send();
    await fixture.reached(runId, "waiting");
    await fixture.stop();
    const [{ gateId }] = await fixture.openGates();
    const gate = await fixture.app.stores.gates.findById(gateId);
    if (gate) await fixture.app.stores.gates.answer(gate, { action: "accept", content: null, answeredBy: "ada" });
    await fixture.app.stores.jobs.collection.native.updateOne({ jobId: runId }, { $set: { notes: [] } });

    fixture.workers = [await startWorker({ ...fixture.app, prefix: fixture.app.prefix })];

    expect((await fixture.ended(runId)).status).to.equal("completed");
  });

  it("finds the same question again if the process died before the run waited", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 3, then: "ask" }]);
    await fixture.spend();
    await fixture.stop();
    const runId = await fixture.send();
    const run = await fixture.app.stores.runs.find(runId);
    const budgets = new RunBudgets(fixture.app.config.agents, fixture.app);

    const [first, second] = [await budgets.check(run), await budgets.check(run)];

    expect(first.kind).to.equal("wait");
    expect(second).to.deep.equal(first);
    expect(await fixture.openGates()).to.have.length(1);
    fixture.workers = [await startWorker(fixture.app)];
    await fixture.reached(runId, "waiting");
    expect(await fixture.openGates()).to.have.length(1);
  });

  it("of each run counts all attempts of one run, and asks again for a retried one", async () => {
    await fixture.start([{ id: "each", per: "run", tokens: 10, then: "ask" }]);
    const runId = await fixture.spend();
    await fixture.app.stores.runs.collection.native.updateOne({ _id: runId }, { $set: { status: "failed" } });
    await fixture.app.call("POST", `/api/runs/${runId}/retry`, {});
    await fixture.reached(runId, "waiting");
    const [gate] = await fixture.openGates();
    expect(gate.message).to.include("15 tokens of 10 tokens were used by this run.");

    await fixture.answer(gate, "accept");

    expect((await fixture.ended(runId)).usage.inputTokens).to.equal(20);
    expect((await fixture.spend()) !== runId).to.equal(true);
  });
});
