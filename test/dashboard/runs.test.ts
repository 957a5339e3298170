import { expect } from "chai";
import { eventually, untilPasses } from "../support/eventually.ts";
import { answers } from "../support/servers/channelServer.ts";
import { answers as modelAnswers, says } from "../support/servers/modelServer.ts";
import { outcome, RunPages } from "./runPages.ts";

describe("dashboard pages of runs, sessions and deliveries", () => {
  const pages = new RunPages();

  it("show a run from the hook's call to the delivered reply", async () => {
    const page = await pages.open(`/runs`);
    await page.getByText("No runs yet").waitFor();
    pages.model.script(says("The test sum is wrong.", { gapMs: 30 }));

    await pages.ring("ci", { build: 4711 });
    await page.getByRole("row").filter({ hasText: "hook:ci" }).getByText("Completed").waitFor();
    await page.getByRole("link", { name: "CI", exact: true }).click();

    await page.getByRole("region", { name: "Reply, content" }).getByText("The test sum is wrong.").waitFor();
    await page.getByRole("region", { name: "Prompt, content" }).getByText("Build 4711 failed").waitFor();
    await page.getByRole("region", { name: "Instructions, content" }).getByText("Say what broke.").waitFor();
    const request = page.getByRole("region", { name: "Request" });
    await request.getByText("The body is not stored").waitFor();
    await untilPasses(async () => expect(await request.getByRole("term").allTextContents()).to.deep.equal(["Mapping"]));
    await page.getByRole("listitem").filter({ hasText: "telegram" }).getByText("1 of 1 sent").waitFor();
    await page.getByRole("link", { name: "hook:ci" }).click();
    await page.getByRole("listitem").filter({ hasText: "Agent" }).getByText("The test sum is wrong.").waitFor();
  });

  it("retry a failed run, which then completes", async () => {
    pages.model.script(modelAnswers(400, { error: { message: "no such model" } }), says("Now it works."));
    const runId = await pages.ring("agent", { message: "Try it", name: "Trial", deliver: false });
    const page = await pages.open(`/runs/${runId}`);
    await outcome(page, "Failed").waitFor();
    await eventually(async () => (await pages.app.stores.runs.find(runId)).finalized, "all that follows from its end");
    const { error } = await pages.app.stores.runs.find(runId);

    await page.getByRole("button", { name: "Retry" }).click();

    await page.getByText("Retry started").waitFor();
    await outcome(page, "Completed").waitFor();
    await page.getByRole("region", { name: "Reply, content" }).getByText("Now it works.").waitFor();
    const attempts = page.getByRole("region", { name: "Failed attempts" });
    await attempts.getByText(error?.message ?? "").waitFor();
    await attempts.getByText(/^Attempt 1, failed/).waitFor();
    await untilPasses(async () => expect(await page.getByRole("button", { name: "Retry" }).count()).to.equal(0));
  });

  it("show why a delivery failed, and retry it", async () => {
    pages.telegram.script(answers(400, { ok: false, error_code: 400, description: "Bad Request: chat not found" }));
    await pages.ring("agent", { message: "Tell them", name: "Teller", channel: "telegram", to: "7" });
    const page = await pages.open(`/deliveries`);
    const row = page.getByRole("row").filter({ hasText: "telegram" });
    await row.getByText("Failed").waitFor();
    await row.getByText("chat not found").waitFor();

    await row.getByRole("button", { name: "Retry" }).click();

    await row.getByText("Sent", { exact: true }).waitFor();
    await page.getByRole("link", { name: "telegram" }).click();
    await page.getByRole("heading", { name: "Teller" }).waitFor();
  });

  it("list the sessions, the waiting events and the channels", async () => {
    await pages.ring("ci", { build: 1 });
    await pages.ring("wake", { text: "The backup is silent", mode: "next-heartbeat" });
    const page = await pages.open(`/sessions`);
    await page.getByRole("link", { name: "hook:ci" }).waitFor();
    await page.getByText("The backup is silent").waitFor();

    await page.getByRole("link", { name: "Channels" }).click();

    const card = page.getByRole("listitem").filter({ hasText: /telegram/i });
    await card.getByText("Last sent").waitFor();
    await card.getByText("Ready", { exact: true }).waitFor();
    await page.getByText("No mailbox is connected").waitFor();
  });
});
