import { expect } from "chai";
import { expectAccessible } from "../support/axe.ts";
import { useDashboard } from "./useDashboard.ts";

const BUDGETS = [
  { id: "daily", per: "day", usd: 5, tokens: 20_000, then: "ask" },
  { id: "each", per: "run", minutes: 30, then: "refuse" },
];

describe("dashboard page of budgets", () => {
  const { app, openLive } = useDashboard({
    config: JSON.stringify({ agents: { list: { reviewer: {} }, budgets: BUDGETS } }),
  });

  it("shows what was spent of each, by mapping, also on a phone", async () => {
    const { budgets } = app.stores;
    const period = app.clock.now().toISOString().slice(0, "2026-11-27".length);
    const spent = { usd: 2, tokens: 12_000, minutes: 3 };
    await budgets.count({ id: "a", budget: "daily", period, mapping: "ci", spent });
    await budgets.count({ id: "b", budget: "daily", period, mapping: null, spent: { ...spent, usd: 1 } });
    await budgets.count({ id: "c", budget: "each", period, mapping: null, spent });

    const page = await openLive("/runs");
    await page.getByRole("link", { name: "Budgets" }).click();
    await page.getByText(/3\.00 of .*5\.00/).waitFor();
    await page.setViewportSize({ width: 360, height: 740 });

    const daily = page.getByRole("region", { name: "daily", exact: true });
    await daily.getByText(/3\.00 of .*5\.00/).waitFor();
    await daily.getByText("24,000 of 20,000").waitFor();
    await daily.getByText("Used up", { exact: true }).waitFor();
    expect(await daily.getByRole("rowheader").allTextContents()).to.deep.equal(["ci", "Agent hook"]);
    await page.getByText("30 a run, 3 today").waitFor();
    await expectAccessible(page);
    expect(await page.evaluate("document.documentElement.scrollWidth <= innerWidth")).to.equal(true);
  });

  it("shows the agent of runs and sessions, and what a waiting run waits for", async () => {
    const _id = "3f2c1c9e-7a51-4c0e-8e0e-2d4b6a8c0e11";
    const request = {
      message: "x",
      wakeMode: "next-heartbeat" as const,
      deliver: false,
      channel: "last",
      to: null,
      model: null,
      thinking: null,
      timeoutSeconds: 60,
      trackAsJob: true,
      agentId: "reviewer",
    };
    const run = {
      _id,
      kind: "agent" as const,
      name: "Review",
      sessionKey: "s",
      singleUse: false,
      mapped: null,
      request,
    };
    await app.stores.runs.accept([run]);
    const awaits = { gateId: "g", jobId: _id };
    await app.stores.runs.collection.native.updateOne({ _id }, { $set: { status: "waiting", awaits } });

    const page = await openLive("/runs?status=waiting");
    await page.getByText("reviewer").waitFor();
    await page.getByRole("link", { name: "Review" }).click();

    await page.getByRole("link", { name: "the answer to a question of its budget" }).waitFor();
    await page.getByText("Waiting", { exact: true }).waitFor();
    await expectAccessible(page);
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.getByText("Failed", { exact: true }).first().waitFor();
  });
});
