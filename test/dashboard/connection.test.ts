import { expect } from "chai";
import type { Page, Request } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import { Readers } from "../support/browser.ts";
import { createJob, report, whole } from "../support/factories.ts";
import { startRedis } from "../support/servers.ts";
import { shows } from "./jobNames.ts";

describe("the dashboard's connection to the service", function () {
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
  /** Has a page believe that it is looked at, or not. */
  const look = (page: Page, hidden: boolean) =>
    page.evaluate(
      `Object.defineProperty(document, "hidden", { configurable: true, value: ${hidden} });
      document.dispatchEvent(new Event("visibilitychange"))`,
    );

  it("says that it is offline, and is right again once it is back", async () => {
    const { path } = await createJob(app, { name: "Was there" });
    const page = await openLive();
    await shows(page, ["Was there"]);

    await page.context().setOffline(true);
    await page.getByRole("alert").getByText("cannot be reached").waitFor();
    await app.call("DELETE", path);
    await createJob(app, { name: "Came meanwhile" });
    await page.context().setOffline(false);

    await shows(page, ["Came meanwhile"]);
    await page.getByRole("alert").waitFor({ state: "detached" });
    await page.getByText("Live", { exact: true }).waitFor();
  });

  it("says that updates are paused while the service has no Redis, and catches up after", async () => {
    const redis = await startRedis();
    const other = await startApp({ redis: redis.url });
    try {
      const page = await readers.openLive(other.url);
      await redis.stop("SIGKILL");
      await page.getByRole("alert").getByText("connection to Redis").waitFor();
      await createJob(other, { name: "Nobody told" });

      await redis.start();

      await page.getByRole("alert").waitFor({ state: "detached" });
      await shows(page, ["Nobody told"]);
    } finally {
      await readers.leave();
      await other.close();
      await redis.remove();
    }
  });

  /** Has the service be without MongoDB for the requests that a pattern fits; until it is called. */
  const unready = async (page: Page, pattern: RegExp) => {
    const body = JSON.stringify({ status: 503, code: "unavailable", detail: "MongoDB is away." });
    await page.route(pattern, (route) => route.fulfill({ status: 503, contentType: "application/problem+json", body }));
    return () => page.unroute(pattern);
  };

  it("reads by itself, some seconds later, the list that the service could not give", async () => {
    await createJob(app, { name: "There all the time" });
    const page = await readers.open("about:blank");
    await page.clock.install();
    const ready = await unready(page, /\/api\/jobs\?/);
    await page.goto(app.url);
    await page.getByRole("alert").getByText("MongoDB is away").waitFor();
    await page.getByText("Live", { exact: true }).waitFor();

    await ready();
    await page.clock.fastForward(6_000);

    await shows(page, ["There all the time"]);
    await page.getByRole("alert").waitFor({ state: "detached" });
  });

  it("says that a job's output could not be read, and reads it some seconds later", async () => {
    const { jobId, path } = await createJob(app, { name: "Ends in the wrong moment" });
    const page = await readers.open("about:blank");
    await page.clock.install();
    await page.goto(`${app.url}/jobs/${jobId}`);
    await page.getByText("Live", { exact: true }).waitFor();
    await page.getByText("they appear with the first report").waitFor();
    const ready = await unready(page, new RegExp(`/api/jobs/${jobId}$`));
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
    it(`tells ages and silence by the service's clock where the browser's is ${how}`, async () => {
      const { jobId, path } = await createJob(app, { name: "Begun just now", staleAfterSeconds: 600 });
      await report(app, path, "a", whole(10));
      const page = await readers.open("about:blank");
      await page.clock.install({ time: Date.now() + minutes * 60_000 });
      await page.goto(app.url);
      const row = page.getByRole("row").filter({ hasText: "Begun just now" });

      await row.getByText(/^(just now|\d+ s ago)$/).waitFor();
      await row.getByText("Running").waitFor();
      await page.goto(`${app.url}/jobs/${jobId}`);
      await page.getByRole("heading", { name: "Begun just now" }).waitFor();
      expect(await page.getByText("No report for").count()).to.equal(0);
    });
  }

  it("lets go of its connection while nobody looks, and catches up when somebody does", async () => {
    const page = await readers.open("about:blank");
    await page.clock.install();
    await page.goto(app.url);
    await page.getByText("Live", { exact: true }).waitFor();

    await look(page, true);
    const isStream = { predicate: (one: Request) => new URL(one.url()).pathname === "/api/events" };
    await Promise.all([page.waitForEvent("requestfailed", isStream), page.clock.fastForward(31_000)]);
    await createJob(app, { name: "While nobody looked" });
    await look(page, false);

    await shows(page, ["While nobody looked"]);
  });

  it("takes no connection for news in pages opened behind the others, which would take those of the one in front", async () => {
    const { path } = await createJob(app, { name: "Opened with others" });
    const page = await openLive();
    const behind: Page[] = [];
    for (let at = 0; at < 7; at += 1) {
      const other = await page.context().newPage();
      await other.addInitScript('Object.defineProperty(document, "hidden", { configurable: true, value: true })');
      await other.goto(app.url + path.replace("/api", ""));
      await other.getByRole("heading", { name: "Opened with others" }).waitFor();
      behind.push(other);
    }

    await look(behind[0] as Page, false);

    await behind[0]?.getByText("Live", { exact: true }).waitFor();
  });
});
