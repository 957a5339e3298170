import { expect } from "chai";
import type { Page } from "playwright-core";
import { waitForAddress } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { createJob } from "../support/factories.ts";
import { waitForNames } from "./jobNames.ts";
import { useDashboard } from "./useDashboard.ts";

describe("filters of the dashboard's list of jobs", () => {
  const { app, openLive } = useDashboard();

  const countOf = (page: Page, state: string) => page.getByRole("link", { name: new RegExp(`^${state} \\d`) });

  it("remove jobs that no longer match, and are part of the address", async () => {
    const failing = await createJob(app, { name: "Fails soon" });
    await createJob(app, { name: "Goes on" });
    const page = await openLive();
    await waitForNames(page, ["Goes on", "Fails soon"]);

    await countOf(page, "Running").click();
    await page.getByText("Live", { exact: true }).waitFor();
    await app.call("PUT", failing.path, { status: "failed" });
    await waitForNames(page, ["Goes on"]);
    await waitForAddress(page, "search", "?status=running");
    const other = await openLive("/?status=failed");
    await waitForNames(other, ["Fails soon"]);

    await page.goBack();
    await waitForNames(page, ["Goes on", "Fails soon"]);
  });

  it("search words anywhere in a name, metadata and ids; pairs become chips, and the counts follow", async () => {
    await createJob(app, { name: "Nightly report for May", metadata: { team: "sales" } });
    const failed = await createJob(app, { name: "Weekly REPORT, June", metadata: { team: "sales and more" } });
    await app.call("PUT", failed.path, { status: "failed" });
    await app.call("PUT", "/api/jobs/ci%2Fbuild%207", { name: "Backup" });
    const page = await openLive();
    const field = page.getByRole("combobox", { name: /^Search jobs/ });
    const chip = (text: string) => page.getByRole("button", { name: `Remove the filter ${text}` });
    await page.keyboard.press("/");
    await page.keyboard.type("report");
    await waitForNames(page, ["Weekly REPORT, June", "Nightly report for May"]);
    await page.getByRole("link", { name: /^All 2$/ }).waitFor();
    await page.getByRole("link", { name: /^Failed 1$/ }).waitFor();

    await page.keyboard.type(" team:sal");
    const suggestion = page.locator("datalist option").first();
    await untilPasses(async () => expect(await suggestion.getAttribute("value")).to.equal("report team=sales"));
    await page.keyboard.type("es ");
    await chip("team = sales").waitFor();
    await waitForNames(page, ["Nightly report for May"]);
    await untilPasses(async () => expect(await field.inputValue()).to.equal("report "));
    await waitForAddress(page, "search", "?metadata.team=sales&search=report");
    await page.reload();
    await chip("team = sales").waitFor();
    await untilPasses(async () => expect(await field.inputValue()).to.equal("report"));

    await chip("team = sales").click();
    await waitForNames(page, ["Weekly REPORT, June", "Nightly report for May"]);
    await page.getByRole("row").getByRole("link", { name: "team = sales and more" }).click();
    await chip("team = sales and more").waitFor();
    await waitForNames(page, ["Weekly REPORT, June"]);
    await field.fill("status:completed absent");
    await page
      .getByRole("heading", {
        name: "No completed jobs with metadata.team = sales and more whose name contains “absent”",
      })
      .waitFor();
    await page.getByRole("link", { name: "Show all jobs" }).click();
    await waitForNames(page, ["Backup", "Weekly REPORT, June", "Nightly report for May"]);
    await untilPasses(async () => expect(await field.inputValue()).to.equal(""));

    await field.fill("id:ci/build 7");
    await waitForNames(page, ["Backup"]);
    await field.fill("ci/build 7");
    await waitForNames(page, ["Backup"]);
    await field.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Backup" }).waitFor();
  });
});
