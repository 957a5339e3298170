import { expect } from "chai";
import type { Page } from "playwright-core";
import { waitForAddress } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";
import { createJob, report, whole } from "../support/factories.ts";
import { chooseAction } from "./jobMenu.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard page of a job", () => {
  const { app, contexts, openWithClock } = useDashboard();

  const openLive = (jobId: string, query = "", options = {}) =>
    contexts.openLive(`${app.url}/jobs/${encodeURIComponent(jobId)}${query}`, options);
  const jobBar = (page: Page) => page.getByRole("progressbar", { name: /^Progress of/ });
  const block = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

  it("follows the reports of progress, messages and steps, then shows the output", async () => {
    const { jobId, path } = await createJob(app, {
      name: "A report",
      input: { month: "May" },
      metadata: { team: "sales" },
    });
    const page = await openLive(jobId);
    await page.getByText("No steps yet").waitFor();

    await report(app, path, "collect", { ...whole(25), stepName: "Collect", message: "25 rows" });
    await page.getByRole("row").filter({ hasText: "Collect" }).getByText("Running").waitFor();
    await page.locator(".said").getByText("25 rows").waitFor();
    await untilPasses(async () => expect(await jobBar(page).getAttribute("aria-valuenow")).to.equal("25"));
    const last = {
      ...whole(100),
      status: "completed",
      message: "All is written",
      output: { url: "https://example.com/7" },
    };
    await report(app, path, "collect", { ...last, stepName: "Collect" });

    await block(page, "Output").getByText("https://example.com/7").waitFor();
    await page.locator(".said").getByText("All is written").waitFor();
    await page.getByRole("row").filter({ hasText: "Collect" }).getByText("Completed").waitFor();
    await page.getByText("Earlier messages (1)").click();
    await page.getByRole("listitem").getByText("25 rows").waitFor();
    await untilPasses(async () => expect(await block(page, "Input").getByText('"month": "May"').count()).to.equal(1));
    await untilPasses(async () =>
      expect(await block(page, "Metadata").getByText('"team": "sales"').count()).to.equal(1),
    );
  });

  it("draws when each step ran on a strip of time, and lists its duration and its attempts", async () => {
    app.clock.advance(-100_000);
    const { jobId, path } = await createJob(app);
    await report(app, path, "a", { stepName: "First" });
    app.clock.advance(50_000);
    await report(app, path, "a", { stepName: "First", status: "completed" });
    await report(app, path, "b", { stepName: "Second" });
    app.clock.advance(25_000);
    await report(app, path, "b", { stepName: "Second", status: "failed" });
    await report(app, path, "b", { stepName: "Second", status: "running" });
    app.clock.advance(25_000);
    await report(app, path, "b", { stepName: "Second", ...whole(100), status: "completed", output: {} });
    const page = await openLive(jobId);
    await page.getByText("attempt 2").waitFor();

    const shares = await page.locator(".strip").evaluate((strip) => {
      const room = strip.getBoundingClientRect();
      const share = (px: number) => Math.round((px / room.width) * 20) / 20;
      return [...strip.querySelectorAll(".mark")].map((mark) => {
        const { left, width } = mark.getBoundingClientRect();
        return [mark.className, share(left - room.left), share(width)];
      });
    });
    expect(shares).to.deep.equal([
      ["mark mark-completed", 0, 0.5],
      ["mark mark-earlier", 0.5, 0.25],
      ["mark mark-completed", 0.75, 0.25],
    ]);
    await untilPasses(async () =>
      expect((await page.locator(".cell-time").allTextContents()).join()).to.match(/^5\d s,2\d s$/),
    );
  });

  it("opens a step with its output at an address of its own", async () => {
    const { jobId, path } = await createJob(app, { name: "With steps" });
    await report(app, path, "a%2Fb", { stepName: "A step", message: "Half way", progress: 50, output: { rows: 12 } });
    const page = await openLive(jobId);
    await page.getByRole("link", { name: "A step" }).click();
    const panel = page.getByRole("region", { name: "A step" });
    await panel.getByText('"rows": 12').waitFor();
    await waitForAddress(page, "search", "?step=a%2Fb");

    await page.reload();
    await panel.getByText('"rows": 12').waitFor();
    await report(app, path, "a%2Fb", { stepName: "A step", message: "Nearly there", progress: 90 });
    await panel.getByText("Nearly there").waitFor();
    await page.keyboard.press("Escape");

    await page.waitForURL(({ search }) => search === "");
    await panel.waitFor({ state: "detached" });
  });

  it("shows and follows a job that is created after its page was opened", async () => {
    const page = await openWithClock("/jobs/not-yet");
    await page.getByText("Job not found").waitFor();

    const path = "/api/jobs/not-yet";
    await app.call("PUT", path, { name: "Now it is there" });
    await page.clock.fastForward(3_000); // the polling interval
    await page.getByRole("heading", { name: "Now it is there" }).waitFor();
    await page.getByText("Live", { exact: true }).waitFor();
    await report(app, path, "a", { ...whole(40), stepName: "A step" });

    await page.getByRole("row").filter({ hasText: "A step" }).getByText("40").waitFor();
  });

  it("deletes a job after a confirmation", async () => {
    const { jobId, path } = await createJob(app, { name: "To be deleted" });
    const page = await openLive(jobId);
    await chooseAction(page, "Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    expect((await app.call("GET", path)).status).to.equal(200);

    await chooseAction(page, "Delete");
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();

    await page.getByText("To be deleted deleted").waitFor();
    await page.getByText("No jobs yet").waitFor();
    expect((await app.call("GET", path)).status).to.equal(404);
  });
});
