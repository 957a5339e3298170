import { expect } from "chai";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { eventually } from "../../support/eventually.ts";
import { createJob } from "../../support/factories.ts";

describe("dashboard lists", () => {
  const { app, contexts } = useDashboard();

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

    await page.goto(`${app.url}/runs`);
    await page.getByText("Live", { exact: true }).waitFor();

    expect(sessions.length).to.equal(1);
  });

  it("are read although nothing answers the request for events", async () => {
    await createJob(app, { name: "Without events" });
    const page = await contexts.open("about:blank");
    await page.route("**/api/events*", () => {});

    await page.goto(app.url);

    await page.getByText("Without events").waitFor();
  });
});
