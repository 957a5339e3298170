import { expect } from "chai";
import type { TestApp } from "../support/app.ts";
import { expectAccessible } from "../support/axe.ts";
import { waitForAddress } from "../support/browser.ts";
import { eventually, untilPasses } from "../support/eventually.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard page of the history", () => {
  let app: TestApp;
  const { openLive } = useDashboard((started) => {
    app = started;
  });

  it("shows charts of jobs and durations, and the figures by name, for each span", async () => {
    for (const jobId of ["a", "b", "c"]) await app.call("PUT", `/api/jobs/${jobId}`, { name: "Import" });
    await app.call("PUT", "/api/jobs/a", { status: "completed" });
    await app.call("PUT", "/api/jobs/b", { status: "failed" });
    await eventually(async () => (await app.stores.jobFigures.countDocuments({ failed: 1 })) >= 6, "the figures");
    const page = await openLive("/");
    await page.getByRole("link", { name: "History" }).click();

    await page.getByRole("img", { name: "3 started, 1 completed, 1 failed" }).waitFor();
    const row = page.getByRole("row").filter({ hasText: "Import" });
    await untilPasses(async () =>
      expect((await row.getByRole("cell").allTextContents()).slice(0, 3)).to.deep.equal(["3", "1", "1"]),
    );
    await expectAccessible(page);
    await page.getByRole("link", { name: "Week" }).focus();
    await page.keyboard.press("Enter");
    await page.getByRole("link", { name: "Week" }).and(page.locator("[aria-current]")).waitFor();
    const bars = page.locator(".chart").first().locator("g");
    await eventually(async () => (await bars.count()) === 28, "the bars of the week");
    await row.getByRole("link", { name: "Import" }).click();
    await page.getByText("Jobs named Import.").waitFor();
    await row.getByRole("link", { name: "1", exact: true }).click();
    await page.getByRole("heading", { name: "Jobs", exact: true }).waitFor();
    await waitForAddress(page, "search", "?name=Import&status=failed");
  });
});
