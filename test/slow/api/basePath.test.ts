import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { BrowserContexts, enterToken, waitForAddress } from "../../support/browser.ts";

const TOKEN = "an-api-token-of-length";
const HOOK_TOKEN = "a-hook-token-of-length";
const AUTH = { Authorization: `Bearer ${TOKEN}` };

/** Starts a site that passes /signalbox/ on with its path, and records the paths of all other requests. */
async function startSite(target: string) {
  const elsewhere: string[] = [];
  const server = createServer((req, res) => {
    if (!req.url?.startsWith("/signalbox/")) {
      elsewhere.push(req.url ?? "");
      res.writeHead(404).end();
      return;
    }
    const headers = { ...req.headers, "x-forwarded-for": "203.0.113.7" };
    const passed = request(new URL(req.url, target), { method: req.method, headers, agent: false }, (answer) => {
      res.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(res);
    });
    passed.on("error", () => res.destroy());
    res.on("close", () => passed.destroy());
    req.pipe(passed);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.closeAllConnections();
    server.close();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, elsewhere, close };
}

describe("server.basePath", () => {
  const contexts = new BrowserContexts();
  let app: TestApp;
  before(async () => {
    const config = `{ hooks: { enabled: true, token: "${HOOK_TOKEN}" }, channels: { log: {} } }`;
    app = await startApp({ apiToken: TOKEN, basePath: "/signalbox", config });
    await app.call("PUT", "/api/jobs/ci%2F7", { name: "Build 7" }, AUTH);
  });
  afterEach(() => contexts.closeAll());
  after(() => app.close());

  it("serves the dashboard: log-in, a reloaded page of a job, live events, navigation and links", async () => {
    const page = await contexts.open(`${app.url}/jobs/ci%2F7`);
    await page.getByLabel("Token", { exact: true }).fill(TOKEN);
    await waitForAddress(page, "pathname", "/signalbox/login");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { name: "Build 7" }).waitFor();
    await waitForAddress(page, "pathname", "/signalbox/jobs/ci%2F7");

    await page.reload();
    await page.getByText("Live", { exact: true }).waitFor();
    const step = { stepName: "Compile", status: "running", message: "File 3" };
    await app.call("PUT", "/api/jobs/ci%2F7/steps/compile", step, AUTH);
    await page.getByText("File 3").first().waitFor();

    await page.getByRole("link", { name: "Runs" }).click();
    await page.waitForURL(`${app.url}/runs`);
    await page.keyboard.press("g");
    await page.keyboard.press("j");
    await page.getByRole("link", { name: "Build 7" }).waitFor();
    await waitForAddress(page, "pathname", "/signalbox/");
    const links = await page.locator("a[href]").evaluateAll((all) => all.map((one) => one.getAttribute("href") ?? ""));
    expect(links.filter((link) => !/^(\/signalbox\/|#)/.test(link))).to.deep.equal([]);
  });

  it("leads from a channel to its deliveries below the path", async () => {
    const page = await contexts.open(`${app.url}/channels`);
    await enterToken(page, TOKEN);
    await page.getByRole("link", { name: "0 failed in 24 h" }).click();

    await page.getByRole("heading", { name: "Deliveries", exact: true }).waitFor();
    await waitForAddress(page, "href", `${app.url}/deliveries?channel=log&state=failed`);
  });

  it("serves the API reference in a browser", async () => {
    const page = await contexts.open(`${app.url}/docs`);

    await page.getByText("/api/jobs/{jobId}", { exact: true }).first().waitFor();
  });

  it("serves a browser through a proxy of another site, which keeps the path", async () => {
    const behind = await startApp({ apiToken: TOKEN, basePath: "/signalbox", trustProxy: 1 });
    const site = await startSite(behind.url);
    try {
      await behind.call("PUT", "/api/jobs/j-1", { name: "Through a proxy" }, AUTH);
      const page = await contexts.open(`${site.url}/signalbox/jobs/j-1`);
      await enterToken(page, TOKEN);
      await page.getByText("Live", { exact: true }).waitFor();
      await page.reload();
      await page.getByRole("heading", { name: "Through a proxy" }).waitFor();

      await waitForAddress(page, "href", `${site.url}/signalbox/jobs/j-1`);
      expect(site.elsewhere).to.deep.equal([]);
    } finally {
      await contexts.closeAll();
      site.close();
      await behind.close();
    }
  });
});
