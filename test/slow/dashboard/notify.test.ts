import { expect } from "chai";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { useRules } from "../../dashboard/useRules.ts";
import { expectAccessible } from "../../support/axe.ts";
import { enterToken } from "../../support/browser.ts";
import { untilPasses } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";

const READ_ONLY = "a-read-only-token-of-length";

describe("dashboard page of notifications", () => {
  const { app, openLive, cardOf } = useRules();

  it("shows the event of a job that fails as soon as a rule has sent it, and links to all of its deliveries", async () => {
    const page = await openLive("/notify");
    const { path } = await createJob(app, { name: "Import" });
    await app.call("PUT", path, { status: "failed", message: "Disk full ".repeat(30) });

    await cardOf(page, "agent").getByText("job.failed").nth(1).waitFor();
    await cardOf(page, "agent").getByRole("listitem").filter({ hasText: "Import failed" }).waitFor();
    await expectAccessible(page);
    await cardOf(page, "agent").getByRole("link", { name: "All deliveries of agent" }).click();

    await page.getByRole("heading", { level: 1, name: "Deliveries" }).waitFor();
    await page.getByRole("link", { name: "rule agent ×" }).waitFor();
    const row = page.getByRole("row").filter({ hasText: "job.failed by agent" });
    await row.waitFor();
    await untilPasses(async () => expect(await row.textContent()).to.match(/wake[\s\S]*main session[\s\S]*Sent/));
  });

  it("shows why a delivery failed and with which status, and links to the failed ones", async () => {
    await app.stores.deliveries.add({
      _id: "failed",
      runId: null,
      kind: "webhook",
      channel: "webhook",
      to: "ci",
      text: "",
      event: { id: "e", type: "job.stale", rule: "ci" },
      fault: "The receiver answered 410.",
    });
    await app.stores.deliveries.collection.native.updateOne({ _id: "failed" }, { $set: { lastStatus: 410 } });
    const page = await openLive("/notify");

    await cardOf(page, "ci").getByText("status 410: The receiver answered 410.").waitFor();
    await untilPasses(async () =>
      expect(await cardOf(page, "ci").textContent()).to.match(/0 pending\s*1 failed in 24 h/),
    );
    await cardOf(page, "ci").getByRole("link", { name: "1 failed in 24 h" }).click();
    await page.getByRole("row").filter({ hasText: "job.stale by ci" }).getByText("status 410").waitFor();
  });
});

describe("dashboard page of notifications with a token that only reads", () => {
  const { app, contexts } = useDashboard({
    apiToken: "an-api-token-of-length",
    readOnlyToken: READ_ONLY,
    config: JSON.stringify({ notify: [{ id: "agent", on: ["job.failed"], to: { wake: "now" } }] }),
  });
  it("shows the rules without the button", async () => {
    const page = await contexts.open(`${app.url}/notify`);
    await enterToken(page, READ_ONLY);

    await page.getByText("the main session, at once").waitFor();
    await untilPasses(async () => expect(await page.getByRole("button", { name: "Test agent" }).count()).to.equal(0));
  });
});

describe("dashboard page of notifications without rules", () => {
  const { openLive } = useDashboard();

  it("links to the guide", async () => {
    const page = await openLive("/notify");

    await page.getByRole("heading", { name: "No rules yet" }).waitFor();
    await untilPasses(async () =>
      expect(await page.getByRole("link", { name: /^Guide: / }).getAttribute("href")).to.equal(
        "/guide/how-to/get-notified-when-a-job-fails",
      ),
    );
  });
});
