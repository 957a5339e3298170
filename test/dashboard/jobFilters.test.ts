import { expect } from "chai";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import { Readers } from "../support/browser.ts";
import { createJob } from "../support/factories.ts";
import { shows } from "./jobNames.ts";

describe("the filters of the dashboard's list of jobs", function () {
  this.timeout(60_000);
  let app: TestApp;
  const readers = new Readers();
  beforeEach(async () => {
    app = await startApp();
  });
  afterEach(async () => {
    await readers.leave();
    await app.close();
  });

  const openLive = (path = "/", options = {}) => readers.openLive(app.url + path, options);
  const countOf = (page: Page, state: string) => page.getByRole("link", { name: new RegExp(`^${state} \\d`) });

  it("follow one: what does not fit any more goes, and the address holds it for a deep link and the way back", async () => {
    const failing = await createJob(app, { name: "Fails soon" });
    await createJob(app, { name: "Goes on" });
    const page = await openLive();
    await shows(page, ["Goes on", "Fails soon"]);

    await countOf(page, "Running").click();
    await page.getByText("Live", { exact: true }).waitFor();
    await app.call("PUT", failing.path, { status: "failed" });
    await shows(page, ["Goes on"]);
    expect(new URL(page.url()).search).to.equal("?status=running");
    const other = await openLive("/?status=failed");
    await shows(other, ["Fails soon"]);

    await page.goBack();
    await shows(page, ["Goes on", "Fails soon"]);
  });

  it("are found by name, id and metadata, in the address too", async () => {
    await createJob(app, { name: "Report for May", metadata: { team: "sales" } });
    await createJob(app, { name: "report for June", metadata: { team: "sales and more" } });
    const { jobId } = await createJob(app, { name: "Backup" });
    const page = await openLive();
    await page.keyboard.press("/");
    await page.keyboard.type("REPORT for");
    await shows(page, ["report for June", "Report for May"]);

    await page.keyboard.press("Control+A");
    await page.keyboard.type('report team="sales and more"');
    await shows(page, ["report for June"]);
    expect(new URL(page.url()).search).to.equal("?name=report&metadata.team=sales+and+more");
    await page.keyboard.press("Control+A");
    await page.keyboard.type(`id:${jobId.slice(0, 12)}`);
    await shows(page, ["Backup"]);
    await page.reload();
    await shows(page, ["Backup"]);
    expect(await page.getByRole("searchbox").inputValue()).to.equal(`id:${jobId.slice(0, 12)}`);

    await page.getByRole("searchbox").fill("nothing like it");
    await page.getByRole("link", { name: "Show all jobs" }).click();
    await shows(page, ["Backup", "report for June", "Report for May"]);
    expect(await page.getByRole("searchbox").inputValue()).to.equal("");
  });

  it("find what is written on while an earlier search begins", async () => {
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

    await shows(page, ["abd"]);
    expect(await page.getByRole("searchbox").inputValue()).to.equal("abd");
  });

  it("list the last 15 minutes as they go on, not those before the page was opened", async () => {
    app.clock.advance(-14.5 * 60_000);
    await createJob(app, { name: "Soon too old" });
    app.clock.advance(14.5 * 60_000);
    await createJob(app, { name: "New" });
    const page = await readers.open("about:blank");
    await page.clock.install();
    await page.goto(`${app.url}/?created=15m`);
    await page.getByText("Live", { exact: true }).waitFor();
    await shows(page, ["New", "Soon too old"]);

    await page.clock.fastForward(60_000);

    await shows(page, ["New"]);
  });
});
