import { expect } from "chai";
import type { TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { createJob } from "../support/factories.ts";
import { useDashboard } from "./useDashboard.ts";

describe("dashboard lists", () => {
  let app: TestApp;
  const { contexts } = useDashboard((started) => {
    app = started;
  });

  const LISTS: readonly [path: string, read: string, reads: number][] = [
    ["/", "/api/jobs", 1],
    ["/runs", "/api/runs", 1],
    ["/sessions", "/api/sessions", 1],
    ["/requests", "/api/hooks/requests", 1],
    ["/deliveries", "/api/deliveries", 1],
    ["/gates", "/api/gates", 2], // The header counts the open ones.
    ["/audit", "/api/audit", 1],
    ["/channels", "/api/channels", 2], // The header counts the stopped ones.
    ["/notify", "/api/notify", 1],
    ["/sessions/main", "/api/sessions/main/messages", 1],
  ];
  for (const [path, read, reads] of LISTS)
    it(`are read once when the page opens: ${read} of ${path}`, async () => {
      const page = await contexts.open("about:blank");
      const requests: string[] = [];
      page.on("request", (request) => requests.push(new URL(request.url()).pathname));
      const count = () => requests.filter((one) => one === read).length;

      await page.goto(app.url + path);
      await page.getByText("Live", { exact: true }).waitFor();
      await eventually(() => count() >= reads, "the list to be read");

      expect(count()).to.equal(reads);
    });

  it("do not wait for the script to ask for the access of the browser, which is read once", async () => {
    const page = await contexts.open("about:blank");
    const sessions: string[] = [];
    page.on("request", (request) => {
      if (new URL(request.url()).pathname === "/session") sessions.push(request.url());
    });
    const isRequested = page.waitForRequest("**/session");
    await page.route("**/assets/*.js", async (route) => {
      await isRequested;
      await route.continue();
    });

    await page.goto(app.url);
    await page.getByText("Live", { exact: true }).waitFor();

    expect(sessions.length).to.equal(1);
  });

  it("are read again when the connection is back", async () => {
    await createJob(app, { name: "Before" });
    const page = await contexts.openLive(app.url);
    await page.getByText("Before").waitFor();
    await page.context().setOffline(true);
    await page.getByText("Offline").waitFor();
    await createJob(app, { name: "Meanwhile" });

    await page.context().setOffline(false);

    await page.getByText("Meanwhile").waitFor();
  });

  it("are read although nothing answers the request for events", async () => {
    await createJob(app, { name: "Without events" });
    const page = await contexts.open("about:blank");
    await page.route("**/api/events*", () => {});

    await page.goto(app.url);

    await page.getByText("Without events").waitFor();
  });

  it("keep their rows until those of another filter are loaded", async () => {
    await createJob(app, { name: "Nightly report" });
    const page = await contexts.openLive(app.url);
    const row = page.getByRole("link", { name: "Nightly report" });
    await row.waitFor();
    const held = Promise.withResolvers<void>();
    await page.route(/\/api\/jobs\?/, async (route) => {
      await held.promise;
      await route.continue();
    });

    await page.getByLabel("Search jobs").fill("weekly");
    await page.keyboard.press("Enter");
    await page.getByRole("table", { name: "Jobs, newest first" }).and(page.locator("[aria-busy=true]")).waitFor();
    const whileLoading = await row.count();
    held.resolve();
    await row.waitFor({ state: "detached" });

    expect(whileLoading).to.equal(1);
    await page.unrouteAll({ behavior: "ignoreErrors" });
  });
});
