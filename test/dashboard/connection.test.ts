import type { Page, Request } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import { Readers } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";
import { createJob } from "../support/factories.ts";
import { startRedis } from "../support/servers.ts";

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
  const names = (page: Page) => page.locator(".table-body .cell-name a").allTextContents();
  const shows = (page: Page, wanted: readonly string[]) =>
    eventually(async () => (await names(page)).join() === wanted.join(), `the list to be ${wanted.join()}`);
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
