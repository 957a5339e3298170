import { expect } from "chai";
import type { Page } from "playwright-core";
import { waitForNames } from "../../dashboard/jobNames.ts";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { enterToken, waitForAddress } from "../../support/browser.ts";
import { untilPasses } from "../../support/eventually.ts";
import { createJob, report } from "../../support/factories.ts";

describe("dashboard when jobs are cancelled", () => {
  const { app, openLive } = useDashboard();

  const openJob = (jobId: string) => openLive(`/jobs/${jobId}`);
  const read = async (path: string) => (await app.call("GET", path)).body;
  const dialog = (page: Page) => page.getByRole("dialog");

  it("requests nothing when the dialog is dismissed", async () => {
    const { jobId, path } = await createJob(app);
    const page = await openJob(jobId);

    await page.getByRole("button", { name: "Cancel" }).click();
    await dialog(page).getByRole("button", { name: "Keep running" }).click();
    await page.getByRole("button", { name: "Cancel" }).click();
    await page.keyboard.press("Escape");
    await dialog(page).waitFor({ state: "detached" });

    expect((await read(path)).cancel).to.equal(null);
  });

  for (const [where, path] of [
    ["on the job's page", "/jobs/import"],
    ["in the list", "/"],
  ] as const)
    it(`says ${where} for how long the worker has not reported`, async () => {
      await app.call("PUT", "/api/jobs/import", { name: "Import" });
      await report(app, "/api/jobs/import", "load", { progress: 40 });
      await app.call("POST", "/api/jobs/import/cancel");
      const page = await openLive(path);
      await page.getByText(/^Cancel requested, last report (just now|\d+ s ago)$/).waitFor();
      const { collection } = app.stores.jobs;
      await collection.updateOne({ jobId: "import" }, { $set: { lastReportAt: new Date(Date.now() - 9 * 60_000) } });

      await page.reload();

      await page.getByText("Cancel requested, no report for 9 min").waitFor();
    });

  it("marks cancelled jobs in the list, and lists only them", async () => {
    const cancelled = await createJob(app, { name: "Stopped" });
    await createJob(app, { name: "Broken", status: "failed" });
    await app.call("POST", `${cancelled.path}/cancel`, { force: true });
    const page = await openLive();
    await waitForNames(page, ["Broken", "Stopped"]);
    const row = page.getByRole("row").filter({ hasText: "Stopped" });
    await untilPasses(async () => expect(await row.locator(".cell-status").textContent()).to.equal("Cancelled"));

    const filter = page.getByRole("navigation", { name: "Jobs by state" }).getByRole("link", { name: "Cancelled" });
    await filter.click();
    await waitForNames(page, ["Stopped"]);

    await waitForAddress(page, "search", "?cancelled=true");
    await untilPasses(async () => expect(await filter.getAttribute("aria-current")).to.equal("true"));
    await page.getByRole("link", { name: /^Failed \d/ }).click();
    await waitForNames(page, ["Broken", "Stopped"]);
    await waitForAddress(page, "search", "?status=failed");
  });

  it("adds a job to the list of cancelled ones when it fails after a request", async () => {
    const { path } = await createJob(app, { name: "Import" });
    const page = await openLive("/?cancelled=true");
    await page.getByText("No cancelled jobs").waitFor();

    await app.call("POST", `${path}/cancel`);
    await report(app, path, "load", { status: "failed", failJob: true });

    await waitForNames(page, ["Import"]);
  });
});

describe("dashboard with read-only access", () => {
  const { app, contexts } = useDashboard({
    apiToken: "an-api-token-of-length",
    readOnlyToken: "a-read-only-token-of-length",
  });

  it("shows no button to cancel a job", async () => {
    const authorization = { Authorization: "Bearer an-api-token-of-length" };
    await app.call("PUT", "/api/jobs/a", { name: "Import" }, authorization);
    const page = await contexts.open(`${app.url}/jobs/a`);
    await enterToken(page, "a-read-only-token-of-length");

    await page.getByRole("heading", { name: "Import" }).waitFor();

    await untilPasses(async () => expect(await page.getByRole("button", { name: "Cancel" }).count()).to.equal(0));
  });
});
