import { expect } from "chai";
import type { Page } from "playwright-core";
import { waitForNames } from "../../dashboard/jobNames.ts";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { expectNoSidewaysScrolling, findings } from "../../support/axe.ts";
import { untilPasses } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";

describe("the selection in the dashboard's list of jobs", () => {
  const { app, openLive } = useDashboard();

  const bar = (page: Page) => page.getByRole("region", { name: "Selected jobs" });

  it("fits a phone, where Failed is the first pill and a new row shows its metadata", async () => {
    const { path } = await createJob(app, { name: "Old" });
    await app.call("PUT", path, { status: "failed" });
    const page = await openLive("/", { viewport: { width: 390, height: 780 } });
    await waitForNames(page, ["Old"]);

    await createJob(app, { name: "New", metadata: { team: "sales" } });
    await page.getByLabel("Select New").check();
    await bar(page).waitFor();

    await untilPasses(async () => {
      const failed = await page.locator(".count-failed").boundingBox();
      const all = await page.locator(".count-total").boundingBox();
      expect(failed?.x).to.be.lessThan(all?.x as number);
      expect(failed?.height).to.be.at.least(44);
    });
    await expectNoSidewaysScrolling(page);
    await untilPasses(async () => expect(await findings(page)).to.deep.equal([]));
    await page.setViewportSize({ width: 1_280, height: 780 });
    await page.getByRole("row").getByRole("link", { name: "team = sales" }).waitFor();
  });
});
