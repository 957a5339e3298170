import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { BudgetFixture } from "./budgetFixture.ts";

describe("a budget, when a person answers,", () => {
  const fixture = new BudgetFixture();

  it("that asks lets the run wait on a question of its job, and go on once it is accepted", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 3, then: "ask" }], { sweeps: false });
    await fixture.spend();

    const runId = await fixture.send({ name: "Second" });
    const waiting = await fixture.reached(runId, "waiting");

    expect(waiting).to.include({ attempts: 0, error: null, endedAt: null });
    expect(waiting.waitsFor).to.deep.equal({ kind: "answer", runId, notBefore: null });
    const [gate] = await fixture.openGates();
    expect(gate).to.include({ jobId: runId, title: "The budget daily is used up. Go on?", onExpiry: "decline" });
    expect(gate.message).to.equal(
      "$3 of $3 were used today. The run Second waits. Accept raises the limit by $3 once. Decline ends the run.",
    );
    expect((await fixture.app.call("GET", `/api/jobs/${runId}`)).body.waitingFor).to.deep.equal([gate.key]);
    expect(await fixture.budget()).to.include({ state: "asking" });
    const session = await fixture.app.stores.sessions.collection.findOne({ _id: waiting.sessionKey });
    expect(session?.active).to.equal(null);
    expect((await fixture.app.call("GET", "/api/runs?status=waiting")).body.runs).to.have.length(1);

    await fixture.answer(gate, "accept");

    expect(await fixture.ended(runId)).to.include({ status: "completed", attempts: 1 });
    expect(
      await eventually(async () => (await fixture.budget()).spent.usd === 6 && fixture.budget(), "the sum"),
    ).to.deep.include({
      raises: 1,
      limits: { usd: 6, tokens: null, minutes: null },
      state: "reached",
    });
  });

  it("that asks ends the waiting runs if it is declined, and asks no more in its period", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 3, then: "ask" }]);
    await fixture.spend();
    const runs = [await fixture.send(), await fixture.send(), await fixture.send()];
    for (const runId of runs) await fixture.reached(runId, "waiting");
    const gates = await fixture.openGates();
    expect(gates).to.have.length(1);

    await fixture.answer(gates[0], "decline");

    for (const runId of runs) {
      const run = await fixture.ended(runId);
      expect(run).to.include({ status: "failed" });
      expect(run.error.code).to.equal("budget_exceeded");
    }
    const later = await fixture.ended(await fixture.send());
    expect(later.error.message).to.include("and raising it was declined");
    expect(await fixture.openGates()).to.deep.equal([]);
    expect(await fixture.budget()).to.include({ state: "declined" });
  });

  it("that asks raises its limit once for two answers, and asks again at the new limit", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 3, then: "ask" }], { count: 2 });
    await fixture.spend();
    const runId = await fixture.send();
    await fixture.reached(runId, "waiting");
    const [gate] = await fixture.openGates();

    const answers = await Promise.all([fixture.answer(gate, "accept"), fixture.answer(gate, "accept")]);

    expect(answers.map(({ status }) => status).sort()).to.deep.equal([200, 409]);
    await fixture.ended(runId);
    await eventually(async () => (await fixture.budget()).spent.usd === 6, "the sum");
    const next = await fixture.send();
    await fixture.reached(next, "waiting");
    expect(await fixture.budget()).to.include({ raises: 1, state: "asking" });
  });

  it("asks one question for runs that two workers take at the same time", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 3, then: "ask" }], { count: 2 });
    await fixture.spend();

    const runs = await Promise.all(Array.from({ length: 8 }, () => fixture.send()));
    for (const runId of runs) await fixture.reached(runId, "waiting");
    const gates = await fixture.openGates();
    expect(gates).to.have.length(1);
    await fixture.answer(gates[0], "accept");

    const statuses = async () =>
      (await Promise.all(runs.map((runId) => fixture.read(runId)))).map(({ status }) => status);
    await eventually(async () => (await statuses()).includes("completed"), "a run to go on");
  });

  it("counts silence as decline", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 3, then: "ask" }]);
    await fixture.spend();
    const runId = await fixture.send();
    await fixture.reached(runId, "waiting");
    const [{ gateId }] = await fixture.openGates();
    await fixture.app.stores.gates.collection.native.updateOne({ _id: gateId }, { $set: { expiresAt: new Date(0) } });

    expect((await fixture.ended(runId)).error.code).to.equal("budget_exceeded");
  });
});
