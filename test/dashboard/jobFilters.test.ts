import { expect } from "chai";
import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
import { findings } from "../support/axe.ts";
import { createJob } from "../support/factories.ts";
import { waitForNames } from "./jobNames.ts";
import { useDashboard } from "./useDashboard.ts";

describe("filters of the dashboard's list of jobs", () => {
  let app: TestApp;
  const { openLive, openWithClock } = useDashboard((started) => {
    app = started;
  });

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
    expect(new URL(page.url()).search).to.equal("?status=running");
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
    expect(await suggestion.getAttribute("value")).to.equal("report team=sales");
    await page.keyboard.type("es ");
    await chip("team = sales").waitFor();
    await waitForNames(page, ["Nightly report for May"]);
    expect(await field.inputValue()).to.equal("report ");
    expect(new URL(page.url()).search).to.equal("?metadata.team=sales&search=report");
    await page.reload();
    await chip("team = sales").waitFor();
    expect(await field.inputValue()).to.equal("report");

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
    expect(await field.inputValue()).to.equal("");

    await field.fill("id:ci/build 7");
    await waitForNames(page, ["Backup"]);
    await field.fill("ci/build 7");
    await waitForNames(page, ["Backup"]);
    await field.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Backup" }).waitFor();
  });

  it("show a sign that changes the direction of the text as a box", async () => {
    const page = await openLive(`/?metadata.team=${encodeURIComponent("sa\u202Eles")}`);
    await page.getByRole("button", { name: "Remove the filter team = sa▯les" }).waitFor();
    await createJob(app, { name: "in\u202Evoice" });

    await page.keyboard.press("Control+k");
    await page.keyboard.type("in");
    await page.getByRole("option", { name: "in▯voice" }).waitFor();
  });

  it("are saved as views, opened and removed; columns are chosen; both stay after a reload", async () => {
    await createJob(app, { name: "Report", metadata: { team: "sales" } });
    await createJob(app, { name: "Backup" });
    const page = await openLive("/?metadata.team=sales");
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByLabel("Name of the view").fill("Sales");
    await page.keyboard.press("Enter");
    const view = page.getByRole("link", { name: "Sales", exact: true });
    await view.waitFor();
    await page.getByText("Columns", { exact: true }).click();
    await page.getByLabel("Message").uncheck();
    await page.keyboard.press("Escape");
    await page.getByLabel("Message").waitFor({ state: "hidden" });
    await page.getByLabel("Select Report").check();
    expect(await findings(page)).to.deep.equal([]);

    await page.goto(app.url);
    await waitForNames(page, ["Backup", "Report"]);
    await view.click();
    await waitForNames(page, ["Report"]);

    expect(new URL(page.url()).search).to.equal("?metadata.team=sales");
    expect(await view.getAttribute("aria-current")).to.equal("true");
    expect(await page.getByRole("columnheader").allTextContents()).to.deep.equal([
      ...["Select", "Job", "Metadata", "Progress", "State", "Duration", "Age"],
    ]);
    await page.getByRole("button", { name: "Remove the view Sales" }).click();
    await page.getByRole("button", { name: "Save view" }).waitFor();
    await page.reload();
    await waitForNames(page, ["Report"]);
    expect(await view.count()).to.equal(0);
  });

  it("search for text that is typed while an earlier search begins", async () => {
    await createJob(app, { name: "abc" });
    await createJob(app, { name: "abd" });
    const page = await openLive();
    await page.evaluate(`const replace = history.replaceState.bind(history);
      history.replaceState = (...more) => {
        history.replaceState = replace;
        replace(...more);
        queueMicrotask(() => {
          const box = document.querySelector("input[type=search]");
          box.value = "abd";
          box.dispatchEvent(new Event("input", { bubbles: true }));
        });
      }`);

    await page.getByRole("combobox", { name: /^Search jobs/ }).fill("ab");

    await waitForNames(page, ["abd"]);
    expect(await page.getByRole("combobox", { name: /^Search jobs/ }).inputValue()).to.equal("abd");
  });

  it("move the last 15 minutes along with the clock", async () => {
    // A response can set the page's clock right again, after which the job is too old in less time than the test waits.
    app.clock.advance(-14.6 * 60_000);
    await createJob(app, { name: "Soon too old" });
    app.clock.advance(14.6 * 60_000);
    await createJob(app, { name: "New" });
    const page = await openWithClock("/?created=15m");
    await page.getByText("Live", { exact: true }).waitFor();
    await waitForNames(page, ["New", "Soon too old"]);

    await page.clock.fastForward(60_000);

    await waitForNames(page, ["New"]);
  });
});
