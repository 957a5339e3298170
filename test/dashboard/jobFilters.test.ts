import { expect } from "chai";
import type { Page } from "playwright-core";
import type { TestApp } from "../support/app.ts";
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

  it("search by name, id and metadata, from the field and from the address", async () => {
    await createJob(app, { name: "Report for May", metadata: { team: "sales" } });
    await createJob(app, { name: "report for June", metadata: { team: "sales and more" } });
    const { jobId } = await createJob(app, { name: "Backup" });
    const page = await openLive();
    await page.keyboard.press("/");
    await page.keyboard.type("REPORT for");
    await waitForNames(page, ["report for June", "Report for May"]);

    await page.keyboard.press("Control+A");
    await page.keyboard.type('report team="sales and more"');
    await waitForNames(page, ["report for June"]);
    expect(new URL(page.url()).search).to.equal("?name=report&metadata.team=sales+and+more");
    await page.keyboard.press("Control+A");
    await page.keyboard.type(`id:${jobId.slice(0, 12)}`);
    await waitForNames(page, ["Backup"]);
    await page.reload();
    await waitForNames(page, ["Backup"]);
    expect(await page.getByRole("searchbox").inputValue()).to.equal(`id:${jobId.slice(0, 12)}`);

    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByRole("link", { name: "Show all jobs" }).click();
    await waitForNames(page, ["Backup", "report for June", "Report for May"]);
    expect(await page.getByRole("searchbox").inputValue()).to.equal("");
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

    await page.getByRole("searchbox").fill("ab");

    await waitForNames(page, ["abd"]);
    expect(await page.getByRole("searchbox").inputValue()).to.equal("abd");
  });

  it("move the last 15 minutes along with the clock", async () => {
    app.clock.advance(-14.5 * 60_000);
    await createJob(app, { name: "Soon too old" });
    app.clock.advance(14.5 * 60_000);
    await createJob(app, { name: "New" });
    const page = await openWithClock("/?created=15m");
    await page.getByText("Live", { exact: true }).waitFor();
    await waitForNames(page, ["New", "Soon too old"]);

    await page.clock.fastForward(60_000);

    await waitForNames(page, ["New"]);
  });
});
