import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { names } from "../../dashboard/jobNames.ts";
import { manyJobs } from "../../dashboard/manyJobs.ts";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { runProgram } from "../../examples/program.ts";
import { eventually, untilPasses } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";

describe("dashboard list of jobs", () => {
  const { app, openLive, openWithClock } = useDashboard();

  const rowOf = (page: Page, name: string) => page.getByRole("row").filter({ hasText: name });
  const countOf = (page: Page, state: string) => page.getByRole("link", { name: new RegExp(`^${state} \\d`) });

  it("shows a job that the example creates, and follows it to its end without a page load", async () => {
    const folder = mkdtempSync(join(tmpdir(), "signalbox-dashboard-"));
    for (let at = 0; at < 40; at++) writeFileSync(join(folder, `${at}.txt`), `words ${at}`);
    const page = await openLive();
    await page.getByText("No jobs yet").waitFor();
    await page.evaluate(`window.seen = new Set();
      new MutationObserver(() => {
        const bar = document.querySelector(".table-body [role=progressbar]");
        if (bar) window.seen.add(Number(bar.ariaValueNow));
      }).observe(document, { subtree: true, childList: true, attributes: true })`);

    const args = [folder, "--out", join(folder, "report.md"), "--job", "an-example", "--flaky"];
    const program = runProgram("examples/pipeline/main.ts", args, { SIGNALBOX_URL: app.url });
    const row = rowOf(page, "an-example");
    await row.getByText("Completed").waitFor();

    const { code, stderr } = await program.ended;
    expect([code, stderr]).to.deep.equal([0, ""]);
    const seen = await page.evaluate<number[]>("[...window.seen]");
    expect(seen).to.deep.equal(seen.toSorted((a, b) => a - b));
    expect(seen.at(-1)).to.be.below(100); // A completed job has no bar.
    expect(seen.length, `of ${seen}`).to.be.greaterThan(1);
    await countOf(page, "Completed").getByText("1").waitFor();
    rmSync(folder, { recursive: true });
  });

  it("marks a job as stale when its time passes, without an event", async () => {
    const page = await openWithClock();
    await page.getByText("Live", { exact: true }).waitFor();
    await createJob(app, { name: "Silent", staleAfterSeconds: 1 });
    await rowOf(page, "Silent").waitFor();

    await page.clock.fastForward(2_000);

    await rowOf(page, "Silent").getByText("Stale").waitFor();
  });

  it("lists and counts jobs that become stale, without an event", async () => {
    const page = await openWithClock("/?stale=true");
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("No stale jobs").waitFor();
    await createJob(app, { name: "Silent", staleAfterSeconds: 60 });
    await countOf(page, "All").getByText("1").waitFor(); // The reload after its creation has ended.

    app.clock.advance(61_000);
    await eventually(async () => {
      await page.clock.fastForward(10_000); // the interval of its checks
      return (await rowOf(page, "Silent").count()) === 1;
    }, "the job to be listed");

    await page.locator(".count-stale").getByText("1", { exact: true }).waitFor();
  });

  it("scrolls through 10,000 jobs with few rows in the document, and does not move when jobs arrive", async () => {
    await manyJobs(app, 10_000);
    const page = await openLive();
    await rowOf(page, "Job 10000").waitFor();
    const inDocument = () => page.locator(".table-body .row").count();

    await eventually(async () => {
      await page.evaluate("scrollTo(0, document.body.scrollHeight)");
      return (await names(page)).includes("Job 1");
    }, "the last job of all");
    await untilPasses(async () => expect(await inDocument()).to.be.lessThan(60));
    await page.evaluate("scrollBy(0, -2000)");
    await untilPasses(async () => expect(await names(page)).to.not.include("Job 1"));
    const middle = page.locator(".table-body .row").nth(20);
    const before = [await middle.locator("a").textContent(), (await middle.boundingBox())?.y];
    await createJob(app, { name: "One more" });
    await page.getByRole("button", { name: "1 new job" }).waitFor();

    const same = rowOf(page, before[0] as string).first();
    await untilPasses(async () =>
      expect([await same.locator("a").textContent(), (await same.boundingBox())?.y]).to.deep.equal(before),
    );
    const scroll = () => page.evaluate<number>("scrollY");
    const at = await scroll();
    await same.locator("a").click();
    await page.getByRole("heading", { level: 1, name: before[0] as string }).waitFor();
    let readings = 0;
    page.on("response", async (response) => {
      if (new URL(response.url()).pathname !== "/api/jobs") return;
      const isLast = await response.json().then(({ nextCursor }) => nextCursor === null);
      if (isLast) readings += 1;
    });
    await page.goBack();
    await eventually(async () => (await scroll()) === at, "the former scroll position");
    // A job that is created earlier would be part of a page.
    await eventually(() => readings >= 1, "the whole list to be reloaded");
    await createJob(app, { name: "Yet another" });
    await page.getByRole("button", { name: "1 new job" }).click();
    await rowOf(page, "Yet another").waitFor();
    await untilPasses(async () => expect(await inDocument()).to.be.lessThan(60));
  });

  it("drops thousands of loaded jobs once the page is at the top again", async () => {
    await manyJobs(app, 2_500);
    const page = await openWithClock();
    await rowOf(page, "Job 2500").waitFor();
    await eventually(async () => {
      await page.evaluate("scrollTo(0, document.body.scrollHeight)");
      return (await names(page)).includes("Job 1");
    }, "the last job of all");
    const table = page.getByRole("table", { name: "Jobs, newest first" });
    await untilPasses(async () => expect(await table.getAttribute("aria-rowcount")).to.equal("2501"));

    await page.evaluate("scrollTo(0, 0)");
    await rowOf(page, "Job 2500").waitFor();

    await eventually(async () => {
      await page.clock.fastForward(11_000);
      return (await table.getAttribute("aria-rowcount")) === "-1";
    }, "there to be more than is kept");
    await rowOf(page, "Job 2500").waitFor();
  });

  it("shows the start of a long right-to-left name", async () => {
    await createJob(app, { name: `${"\u05E9\u05DC\u05D5\u05DD ".repeat(30)}${"x".repeat(100)}` });
    const page = await openLive();
    await page.locator(".table-body .cell-name a").waitFor();

    await untilPasses(async () => {
      const [first, cell] = await page.evaluate<{ left: number; right: number }[]>(`(() => {
      const link = document.querySelector(".table-body .cell-name a");
      const range = document.createRange();
      range.setStart(document.createTreeWalker(link, NodeFilter.SHOW_TEXT).nextNode(), 0);
      range.setEnd(range.startContainer, 1);
      return [range, link].map((part) => part.getBoundingClientRect().toJSON());
    })()`);

      expect(first?.left).to.be.at.least(cell?.left as number);
      expect(first?.right).to.be.at.most((cell?.right as number) + 1);
    });
  });
});
