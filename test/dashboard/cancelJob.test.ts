import { expect } from "chai";
import type { Page } from "playwright-core";
import { untilPasses } from "../support/eventually.ts";
import { createJob } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard when jobs are cancelled", () => {
  const { app, openLive } = useDashboard();

  const openJob = (jobId: string) => openLive(`/jobs/${jobId}`);
  const read = async (path: string) => (await app.call("GET", path)).body;
  const dialog = (page: Page) => page.getByRole("dialog");

  it("requests the cancellation with a reason, by keyboard alone, and shows that it was requested", async () => {
    const { jobId, path } = await createJob(app, { name: "Import" });
    const page = await openJob(jobId);

    await page.getByRole("button", { name: "Cancel" }).focus();
    await page.keyboard.press("Enter");
    await dialog(page).getByLabel("Reason (optional)").fill("Not needed");
    await page.keyboard.press("Enter");
    await page.getByText("Cancellation requested").waitFor();
    await page.locator(".silent").getByText("Cancel requested, no report yet. Reason: Not needed").waitFor();

    expect((await read(path)).cancel.reason).to.equal("Not needed");
    await untilPasses(async () => expect(await dialog(page).count()).to.equal(0));
    await untilPasses(async () => expect(await page.getByText("Running", { exact: true }).count()).to.equal(1));
  });

  it("forces a cancellation that was requested, and shows the job as cancelled", async () => {
    const { jobId, path } = await createJob(app, { name: "Import" });
    const page = await openJob(jobId);
    await app.call("POST", `${path}/cancel`, { reason: "Not needed" });

    await page.getByRole("button", { name: "Force cancel" }).click();
    await dialog(page).getByRole("button", { name: "Force cancel" }).click();
    await page.getByText("Cancelled", { exact: true }).waitFor();

    await page.locator(".said").getByText("Cancelled: Not needed").waitFor();
    await untilPasses(async () => expect(await page.getByRole("button", { name: /ancel/ }).count()).to.equal(0));
    await untilPasses(async () => expect(await page.locator(".silent").count()).to.equal(0));
    expect((await read(path)).status).to.equal("failed");
  });
});
