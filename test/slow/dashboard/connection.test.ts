import { expect } from "chai";
import type { Page, Request } from "playwright-core";
import { waitForNames } from "../../dashboard/jobNames.ts";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { startApp } from "../../support/app.ts";
import { untilPasses } from "../../support/eventually.ts";
import { createJob, report, whole } from "../../support/factories.ts";
import { startRedis } from "../../support/servers/servers.ts";

describe("dashboard connection", () => {
  const { app, contexts, openLive, openWithClock } = useDashboard();

  /** Simulates that a page becomes hidden or visible. */
  const setHidden = (page: Page, hidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, "hidden", { configurable: true, value: ${hidden} });
      document.dispatchEvent(new Event("visibilitychange"))`,
    );

  it("shows that updates are paused while Redis is unavailable, and catches up afterwards", async () => {
    const redis = await startRedis();
    const other = await startApp({ redis: redis.url });
    try {
      const page = await contexts.openLive(other.url);
      await redis.stop("SIGKILL");
      await page.getByRole("alert").getByText("connection to Redis").waitFor();
      await createJob(other, { name: "Nobody told" });

      await redis.start();

      await page.getByRole("alert").waitFor({ state: "detached" });
      await waitForNames(page, ["Nobody told"]);
    } finally {
      await contexts.closeAll();
      await other.close();
      await redis.remove();
    }
  });

  /** Answers 503 to the requests that match the pattern. Returns a function that ends this. */
  const respondUnavailable = async (page: Page, pattern: RegExp) => {
    const body = JSON.stringify({ status: 503, code: "unavailable", detail: "MongoDB is away." });
    await page.route(pattern, (route) => route.fulfill({ status: 503, contentType: "application/problem+json", body }));
    return () => page.unroute(pattern);
  };

  it("shows that a job's output failed to load, and retries it", async () => {
    const { jobId, path } = await createJob(app, { name: "Ends in the wrong moment" });
    const page = await openWithClock(`/jobs/${jobId}`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("No steps yet").waitFor();
    const ready = await respondUnavailable(page, new RegExp(`/api/jobs/${jobId}$`));
    await report(app, path, "a", { ...whole(100), status: "completed", output: { all: "done" } });
    await page.getByRole("alert").getByText("MongoDB is away").waitFor();

    await ready();
    await page.clock.fastForward(6_000);

    await page.getByText('"done"').waitFor();
    await page.getByRole("alert").waitFor({ state: "detached" });
  });

  for (const [how, minutes] of [
    ["fast", 30],
    ["slow", -30],
  ] as const) {
    it(`computes ages from the service's clock when the browser's is ${how}`, async () => {
      const { jobId, path } = await createJob(app, { name: "Begun just now", staleAfterSeconds: 600 });
      await report(app, path, "a", whole(10));
      const page = await contexts.open("about:blank");
      await page.clock.install({ time: Date.now() + minutes * 60_000 });
      await page.goto(app.url);
      const row = page.getByRole("row").filter({ hasText: "Begun just now" });

      await row.getByText(/^(just now|\d+ s ago)$/).waitFor();
      await row.getByText("Running").waitFor();
      await page.goto(`${app.url}/jobs/${jobId}`);
      await page.getByRole("heading", { name: "Begun just now" }).waitFor();
      await untilPasses(async () => expect(await page.getByText("No report for").count()).to.equal(0));
    });
  }

  it("is closed while the page is hidden, and catches up when it is visible again", async () => {
    const page = await openWithClock();
    await page.getByText("Live", { exact: true }).waitFor();

    await setHidden(page, true);
    const isStream = { predicate: (one: Request) => new URL(one.url()).pathname === "/api/events" };
    await Promise.all([page.waitForEvent("requestfailed", isStream), page.clock.fastForward(31_000)]);
    await createJob(app, { name: "While nobody looked" });
    await setHidden(page, false);

    await waitForNames(page, ["While nobody looked"]);
  });

  it("is not opened by pages in the background, so that they use up no connections", async () => {
    const { path } = await createJob(app, { name: "Opened with others" });
    const page = await openLive();
    const background: Page[] = [];
    for (let at = 0; at < 7; at += 1) {
      const other = await page.context().newPage();
      await other.addInitScript('Object.defineProperty(document, "hidden", { configurable: true, value: true })');
      await other.goto(app.url + path.replace("/api", ""));
      await other.getByRole("heading", { name: "Opened with others" }).waitFor();
      background.push(other);
    }

    await setHidden(background[0] as Page, false);

    await background[0]?.getByText("Live", { exact: true }).waitFor();
  });
});
