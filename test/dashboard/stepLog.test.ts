import { expect } from "chai";
import { colourParts } from "../../src/dashboard/data/job/logColours.ts";
import type { TestApp } from "../support/app.ts";
import { untilPasses } from "../support/eventually.ts";
import { createJob, report } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

describe("the log of a step on the page", () => {
  let app: TestApp;
  const { openLive } = useDashboard((started) => {
    app = started;
  });

  it("shows the end live, keeps most of many lines out of the document, and finds lines", async () => {
    const job = await createJob(app, { links: [{ title: "Build", url: "https://ci.example.com/1" }] });
    await report(app, job.path, "a", {});
    const add = (text: string) => app.call("POST", `${job.path}/steps/a/log`, text, { "Content-Type": "text/plain" });
    await add(Array.from({ length: 5_000 }, (_, i) => `line ${i + 1}`).join("\n"));

    const page = await openLive(`/jobs/${job.jobId}?step=a`);
    await page.waitForSelector(".log-row >> text=line 5000");
    await untilPasses(async () => expect(await page.locator(".log-row").count()).to.be.below(100));
    await add("\x1b[31mred end\x1b[0m");
    await page.waitForSelector(".log-row .log-red >> text=red end");
    await page.fill(".log-head input", "line 4321");
    await page.waitForSelector(".log-row >> text=line 4321");

    await untilPasses(async () => expect(await page.locator(".log-row").count()).to.equal(1));
    await untilPasses(async () =>
      expect(await page.getAttribute(".chips a", "href")).to.equal("https://ci.example.com/1"),
    );
    await untilPasses(async () => expect(await page.textContent("main")).to.include("0 of 1 step"));
  });

  it("splits lines at their colours", () => {
    expect(colourParts("a\x1b[1;31mb\x1b[0mc\x1b[38;5;9md")).to.deep.equal([
      { text: "a", colour: "" },
      { text: "b", colour: "log-red log-bold" },
      { text: "c", colour: "" },
      { text: "d", colour: "" },
    ]);
  });
});
