import { text } from "node:stream/consumers";
import { expect } from "chai";
import { colourParts } from "../../src/dashboard/data/job/logColours.ts";
import { untilPasses } from "../support/eventually.ts";
import { createJob, report } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

describe("the log of a step on the page", () => {
  const { app, openLive } = useDashboard();

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

  it("shows levels in colour, and can be downloaded as text", async () => {
    const job = await createJob(app);
    await report(app, job.path, "a", {});
    const lines = ["error", "warning", "debug", "info"].map((level) => JSON.stringify({ level, text: `<i>${level}` }));
    await app.call("POST", `${job.path}/steps/a/log`, lines.join("\n"), { "Content-Type": "application/x-ndjson" });
    const page = await openLive(`/jobs/${job.jobId}?step=a`);
    for (const level of ["error", "warning", "debug"]) await page.waitForSelector(`.log-${level} >> text=<i>${level}`);
    await untilPasses(async () => expect(await page.locator(".log-row").count()).to.equal(4));

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("region", { name: "Log" }).getByRole("button", { name: "Download" }).click(),
    ]);

    expect(download.suggestedFilename()).to.equal(`${job.jobId}-a.log`);
    expect(await text(await download.createReadStream())).to.equal("<i>error\n<i>warning\n<i>debug\n<i>info\n");
  });

  it("stands beside how many steps of a job are done, in the rows of the list and live", async () => {
    const job = await createJob(app, { name: "Import" });
    await report(app, job.path, "s0", {});
    const page = await openLive("/");
    const row = page.getByRole("row").filter({ hasText: "Import" });
    await row.waitFor();
    const before = await row.getByText(/ steps?\b/).count();
    for (let i = 1; i < 6; i++) await report(app, job.path, `s${i}`, { status: "completed" });
    await row.getByText("5 of 6 steps", { exact: true }).waitFor();
    await report(app, job.path, "s0", { status: "failed" });
    await app.call("PUT", job.path, { status: "completed" });

    await row.getByText("5 of 6 steps, 1 failed", { exact: true }).waitFor();
    await row.getByText("Completed").waitFor();
    expect(before).to.equal(0);
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
