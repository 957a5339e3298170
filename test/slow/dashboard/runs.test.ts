import { expect } from "chai";
import { outcome, RunPages } from "../../dashboard/runPages.ts";
import { waitForAddress } from "../../support/browser.ts";
import { untilPasses } from "../../support/eventually.ts";
import { hangs, says, saysPlain } from "../../support/servers/modelServer.ts";

describe("dashboard pages of runs, sessions and deliveries", () => {
  const pages = new RunPages();

  it("list a run's reply and usage as soon as it ends", async () => {
    const page = await pages.open(`/runs`);
    await page.getByText("No runs yet").waitFor();
    const details = { prompt_tokens_details: { cached_tokens: 9_000 } };
    pages.model.script(
      saysPlain("The test sum is wrong.", { prompt_tokens: 12_000, completion_tokens: 345, ...details }),
    );

    await pages.ring("ci", { build: 4711 });

    const row = page.getByRole("row").filter({ hasText: "hook:ci" });
    await row.getByText("The test sum is wrong.").waitFor();
    await row.getByText("12.3K").waitFor();
    await untilPasses(async () =>
      expect(await row.getByText("12.3K").getAttribute("title")).to.equal("input 12,000 (9,000 cached), output 345"),
    );
  });

  it("run a completed run again, as a new run that links to the old one", async () => {
    pages.model.script(says("The first reply."), says("The second reply."));
    const runId = await pages.ring("agent", { message: "Try it", name: "Trial", deliver: false });
    const page = await pages.open(`/runs/${runId}`);
    const reply = page.getByRole("region", { name: "Reply, content" });
    await reply.getByText("The first reply.").waitFor();

    await page.getByRole("button", { name: "Run again" }).click();

    await page.getByText("Run started").waitFor();
    await reply.getByText("The second reply.").waitFor();
    await page.getByRole("link", { name: "an earlier run" }).click();
    await reply.getByText("The first reply.").waitFor();
    await waitForAddress(page, "pathname", `/runs/${runId}`);
  });

  it("show which run of its session a queued run waits for", async () => {
    pages.model.script(hangs("It begins"), says("At last."));
    const first = await pages.ring("agent", { message: "One", name: "Ahead", sessionKey: "in-turn", deliver: false });
    const second = await pages.ring("agent", { message: "Two", sessionKey: "in-turn", deliver: false });
    const page = await pages.open(`/runs/${second}`);

    await page.getByRole("link", { name: "a run of the same session" }).click();

    await page.getByRole("heading", { name: "Ahead" }).waitFor();
    await waitForAddress(page, "pathname", `/runs/${first}`);
    await page.goBack();
    await page.getByRole("link", { name: "a run of the same session" }).waitFor();
    await pages.app.call("POST", `/api/runs/${first}/cancel`);
    await page.getByRole("region", { name: "Reply, content" }).getByText("At last.").waitFor();
    await untilPasses(async () => expect(await page.getByText("a run of the same session").count()).to.equal(0));
  });

  it("cancel a running run", async () => {
    pages.model.script(hangs("It begins"));
    const runId = await pages.ring("agent", { message: "Take your time", deliver: false });
    const page = await pages.open(`/runs/${runId}`);
    await outcome(page, "Running").waitFor();

    await page.getByRole("button", { name: "Cancel" }).click();

    await page.getByText("Run cancelled", { exact: true }).waitFor();
    await outcome(page, "Failed").waitFor();
    await page.getByText("cancelled", { exact: true }).waitFor();
  });

  it("remove an event that blocks the main session", async () => {
    await pages.ring("wake", { text: "What no model answers", mode: "next-heartbeat" });
    await pages.ring("wake", { text: "The backup is silent", mode: "next-heartbeat" });
    const page = await pages.open(`/sessions/main`);
    const first = page.getByRole("listitem").filter({ hasText: "What no model answers" });

    await first.getByRole("button", { name: "Remove" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();

    await page.getByText("Event removed").waitFor();
    await first.waitFor({ state: "detached" });
    await untilPasses(async () =>
      expect(await page.getByRole("listitem").filter({ hasText: "The backup is silent" }).count()).to.equal(1),
    );
  });
});
