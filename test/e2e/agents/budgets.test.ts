import { expect } from "chai";
import { RunBudgets } from "../../../src/workers/runs/budgets.ts";
import type { TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { startWorker } from "../../support/worker.ts";
import { BudgetFixture, bearer } from "./budgetFixture.ts";

describe("a budget", () => {
  const fixture = new BudgetFixture();

  it("that refuses ends the next run before its turn, and never one that has finished", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 5, then: "refuse" }]);
    const runs = [await fixture.spend(), await fixture.spend()];

    const refused = await fixture.ended(await fixture.send());

    expect((await Promise.all(runs.map((runId) => fixture.read(runId)))).map(({ status }) => status)).to.deep.equal([
      "completed",
      "completed",
    ]);
    expect(refused).to.include({ status: "failed", attempts: 0, reply: null });
    expect(refused.error.code).to.equal("budget_exceeded");
    expect(refused.error.message).to.equal("The budget daily is used up: $6 of $5 today.");
    expect(refused).to.not.have.property("failedAttempts");
  });

  it("states a limit far below 1 with its first digits", async () => {
    await fixture.start([{ id: "small", per: "day", usd: 0.004, then: "refuse" }]);
    await fixture.spend();

    const refused = await fixture.ended(await fixture.send());

    expect(refused.error.message).to.equal("The budget small is used up: $3 of $0.004 today.");
  });

  it("counts by mapping, agent and period, each attempt once", async () => {
    await fixture.start([
      { id: "all", per: "month", usd: 100, tokens: 1_000, minutes: 100, then: "warn" },
      { id: "reviewer", per: "day", where: { agentId: "reviewer" }, usd: 100, then: "warn" },
      { id: "mapped", per: "day", where: { mapping: "mapped" }, usd: 100, then: "warn" },
    ]);
    const runId = await fixture.spend();
    await fixture.spend({ agentId: "reviewer" });
    const mapped = (await fixture.app.call("POST", "/hooks/mapped", {}, bearer)).body.runId;
    await fixture.ended(mapped);
    const budgets = () =>
      eventually(async () => {
        const { body } = await fixture.app.call("GET", "/api/budgets");
        return body.budgets[0].spent.usd === 9 && body.budgets;
      }, "the sums");
    await budgets();
    const { uncounted: _, ...again } = await fixture.app.stores.runs.find(runId);
    expect(_).to.deep.equal([]);
    const entry = { id: "again", at: new Date(), ms: 60_000, usage: { costUsd: 0.5 } };
    for (let i = 0; i < 2; i++) {
      await fixture.app.stores.runs.collection.native.updateOne({ _id: again._id }, { $set: { uncounted: [entry] } });
      await new RunBudgets(fixture.app.config.agents, fixture.app).count(runId);
    }

    const [all, reviewer, ofMapping] = (await fixture.app.call("GET", "/api/budgets")).body.budgets;

    expect(all.spent).to.include({ usd: 9.5, tokens: 45 });
    expect(all.spent.minutes).to.be.within(1, 2);
    expect(all.byMapping.map((one: { mapping: string; usd: number }) => [one.mapping, one.usd])).to.deep.equal([
      [null, 6.5],
      ["mapped", 3],
    ]);
    expect([reviewer.spent.usd, ofMapping.spent.usd]).to.deep.equal([3, 3]);
    expect(all.period).to.match(/^\d{4}-\d{2}$/);
    expect(all).to.include({ state: "within", raises: 0 });
  });

  it("that warns sends `budget.reached` once in its period", async () => {
    const to = { channel: "log", to: "budget" };
    await fixture.start([{ id: "daily", per: "day", usd: 5, then: "warn" }], {
      notify: [{ id: "spending", on: ["budget.reached"], to }],
    });
    for (let i = 0; i < 4; i++) await fixture.spend({ name: `Run ${i}` });

    const sent = await eventually(async () => {
      const { deliveries } = (await fixture.app.call("GET", "/api/deliveries?channel=log")).body;
      return deliveries.length > 0 && deliveries;
    }, "the event");

    expect(sent).to.have.length(1);
    expect(sent[0]).to.include({ eventType: "budget.reached" });
    expect(JSON.stringify(sent[0])).to.include("daily");
    expect(await fixture.budget()).to.include({ state: "reached" });
  });

  it("that can see no figure says so when a worker starts", async () => {
    await fixture.start([{ id: "daily", per: "day", usd: 5, then: "ask" }]);
    await fixture.stop();
    const config = structuredClone(fixture.app.config) as unknown as {
      agents: { runners: { command: { output: string } } };
    };
    config.agents.runners.command.output = "text";

    const worker = await startWorker({ ...fixture.app, config: config as unknown as TestApp["config"] });
    fixture.workers = [worker];

    expect(JSON.stringify(worker.log)).to.include("The budget daily never reaches its limit of usd");
  });
});
