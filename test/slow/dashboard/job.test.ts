import { randomUUID } from "node:crypto";
import { json } from "node:stream/consumers";
import { expect } from "chai";
import type { Page } from "playwright-core";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { expectNoSidewaysScrolling } from "../../support/axe.ts";
import { eventually, untilPasses } from "../../support/eventually.ts";
import { createJob, report, whole } from "../../support/factories.ts";

describe("dashboard page of a job", () => {
  const { app, contexts } = useDashboard();

  const openLive = (jobId: string, query = "", options = {}) =>
    contexts.openLive(`${app.url}/jobs/${encodeURIComponent(jobId)}${query}`, options);
  const block = (page: Page, name: string) => page.getByRole("region", { name, exact: true });

  it("shows metadata that changes without a report, and loads no outputs of steps", async () => {
    await app.call("PUT", "/api/jobs/a", { name: "Before", metadata: { team: "sales" } });
    await app.call("PUT", "/api/jobs/a/steps/s", { stepName: "Load", output: { secret: "not needed here" } });
    const page = await contexts.open("about:blank");
    const read: string[] = [];
    await page.route(/\/steps(\?|$)/, async (route) => {
      const response = await route.fetch(); // The browser may have discarded the body by the time the test reads it.
      read.push(await response.text());
      await route.fulfill({ response });
    });
    await page.goto(`${app.url}/jobs/a`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText('"sales"').waitFor();

    await app.call("PUT", "/api/jobs/a", { metadata: { team: "support" } });

    await page.getByText('"support"').waitFor();
    await page.unrouteAll({ behavior: "wait" });
    expect(read.length).to.be.greaterThan(0);
    expect(read.join()).to.include('"Load"').and.not.include("not needed here");
  });

  it("applies events that arrive while the job is being loaded", async () => {
    const { jobId, path } = await createJob(app, { name: "Read slowly" });
    await report(app, path, "a", { ...whole(10), stepName: "First" });
    const witness = await openLive(jobId);
    const page = await contexts.open("about:blank");
    const held = Promise.withResolvers<void>();
    let read = 0;
    await page.route(/\/api\/jobs\/[^/]+(\/steps\?.*)?$/, async (route) => {
      const response = await route.fetch();
      read += 1;
      await held.promise;
      await route.fulfill({ response });
    });
    await page.goto(`${app.url}/jobs/${jobId}`);
    await page.getByText("Live", { exact: true }).waitFor();
    await eventually(() => read === 3, "job and steps to be read");

    await report(app, path, "b", { stepName: "Second", status: "completed" });
    await report(app, path, "a", { ...whole(100), status: "completed", output: { all: "done" } });
    await witness.getByText('"done"').waitFor();
    held.resolve();

    await page.getByText('"done"').waitFor();
    await page.getByRole("row").filter({ hasText: "Second" }).waitFor();
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });

  it("ends the bar of a step that never ended at the end of its job", async () => {
    app.clock.advance(-3_600_000);
    const { jobId, path } = await createJob(app);
    await report(app, path, "a", { stepName: "Fails" });
    await report(app, path, "b", { stepName: "Nobody goes on with it" });
    app.clock.advance(60_000);
    await report(app, path, "a", { status: "failed", failJob: true });
    app.clock.advance(3_540_000);

    const page = await openLive(jobId);
    await page.getByRole("row").filter({ hasText: "Nobody goes on with it" }).waitFor();

    await untilPasses(async () => {
      const durations = await page.locator(".cell-time").allTextContents();
      expect(durations.join()).to.match(/^1 min( \d+ s)?,1 min( \d+ s)?$/); // not an hour
    });
    await expectNoSidewaysScrolling(page);
  });

  it("keeps showing a deleted job with a note, and shows a new job with the same id", async () => {
    const { jobId, path } = await createJob(app, { name: "Short-lived" });
    await report(app, path, "a", { ...whole(70), stepName: "A step" });
    const page = await openLive(jobId);
    await page.getByRole("row").filter({ hasText: "A step" }).waitFor();

    await app.call("DELETE", path);
    await page.getByText("This job was deleted").waitFor();
    await untilPasses(async () =>
      expect(await page.getByRole("heading", { level: 1 }).textContent()).to.equal("Short-lived"),
    );
    await untilPasses(async () => expect(await page.locator("button.danger").count()).to.equal(0));
    await app.call("PUT", path, { name: "Made anew" });

    await page.getByRole("heading", { name: "Made anew" }).waitFor();
    await page.getByText("No steps yet").waitFor();
    await untilPasses(async () => expect(await page.getByText("This job was deleted").count()).to.equal(0));
    await app.call("DELETE", path);
    await page.reload();
    await page.getByText("Job not found").waitFor();
  });

  it("shows the start of a large output, but copies and downloads all of it", async () => {
    const output = {
      lines: Array.from({ length: 20_000 }, (_, at) => `line ${at} of a long output that goes on and on`),
    };
    const { jobId, path } = await createJob(app);
    await report(app, path, "a", { ...whole(100), output });
    const page = await openLive(jobId, "", { permissions: ["clipboard-read", "clipboard-write"] });
    await block(page, "Output").getByRole("heading", { name: "Output" }).click();
    await page.getByText("line 3 of a long output").waitFor();
    await untilPasses(async () => expect((await block(page, "Output").textContent())?.length).to.be.lessThan(10_000));

    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download Output" }).click(),
    ]);
    await page.getByRole("button", { name: "Copy Output" }).click();
    await page.getByText("Output copied").waitFor();

    expect(await json(await download.createReadStream())).to.deep.equal(output);
    expect(download.suggestedFilename()).to.equal(`${jobId}-output.json`);
    await untilPasses(async () =>
      expect(JSON.parse(await page.evaluate<string>("navigator.clipboard.readText()"))).to.deep.equal(output),
    );
  });

  it("renders only the visible steps of 3,000", async () => {
    const { jobId, path } = await createJob(app);
    await report(app, path, "like", {});
    const { collection } = app.stores.jobs;
    const { like } = (await collection.findOne({ jobId }))!.steps!;
    const steps = Array.from({ length: 2_999 }, (_, at) => {
      const same = { ...like, stepId: randomUUID(), stepKey: `key-${at}`, stepName: `Step ${at}` };
      return [`key-${at}`, { ...same, createdAt: new Date(Date.now() + at) }];
    });
    await collection.updateOne({ jobId }, { $set: { steps: { like: like!, ...Object.fromEntries(steps) } } });
    const page = await openLive(jobId);
    await page.getByRole("heading", { name: "Steps 3,000" }).waitFor();

    await eventually(async () => {
      await page.evaluate("scrollTo(0, document.body.scrollHeight)");
      return (await page.getByRole("link", { name: "Step 2998" }).count()) === 1;
    }, "the last step");

    await untilPasses(async () => expect(await page.locator(".table-steps .row").count()).to.be.lessThan(80));
  });

  it("opens a job whose id has slashes, spaces and special characters", async () => {
    const jobId = "ci/build 7?x=1#y%2F";
    await app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, {});
    const page = await contexts.openLive(app.url);
    await page.getByRole("link", { name: jobId }).click();

    await page.getByRole("heading", { level: 1, name: jobId }).waitFor();
    await page.reload();
    await page.getByRole("heading", { level: 1, name: jobId }).waitFor();
  });
});
