import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Router from "@koa/router";
import type { AxeResults } from "axe-core";
import { expect } from "chai";
import { GUIDE, mountGuide } from "../../src/api/pages/guide.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";
import { eventually } from "../support/eventually.ts";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const built = readdirSync(GUIDE, { recursive: true }).map(String);
const asset = (ending: string) => `/guide/${built.find((name) => name.startsWith("assets") && name.endsWith(ending))}`;

describe("the guide", () => {
  const contexts = new BrowserContexts();
  let app: TestApp;
  before(async () => {
    app = await startApp({ apiToken: "a-token-of-32-characters-for-tests" });
  });
  afterEach(() => contexts.closeAll());
  after(() => app.close());

  it("is served without a token, with a policy that forbids inline scripts and other hosts", async () => {
    for (const path of ["/guide/", "/guide/reference/configuration", "/guide/tutorials/first-job"]) {
      const { status, headers, body } = await app.call("GET", path);

      expect([path, status, headers.get("Content-Type")]).to.deep.equal([path, 200, "text/html; charset=utf-8"]);
      expect(headers.get("Cache-Control")).to.equal("no-cache");
      expect(headers.get("Content-Security-Policy")).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
      );
      expect(body).to.not.match(/<style|<script>|<(script|link|img)[^>]*(src|href)="https?:/);
    }
  });

  it("redirects from its path without a slash, relative to where it is served", async () => {
    const response = await fetch(`${app.url}/guide`, { redirect: "manual" });

    expect([response.status, response.headers.get("Location")]).to.deep.equal([302, "guide/"]);
  });

  it("responds with a page to a person and with a problem to a program where there is no page", async () => {
    const page = await app.call("GET", "/guide/nothing", undefined, { Accept: "text/html" });
    const problem = await app.call("GET", "/guide/nothing", undefined, { Accept: "application/json" });

    expect([page.status, page.headers.get("Content-Type")]).to.deep.equal([404, "text/html; charset=utf-8"]);
    expect(page.body).to.include("404");
    expect([problem.status, problem.body.code]).to.deep.equal([404, "not_found"]);
  });

  it("has its assets cached for a year and compressed", async () => {
    for (const path of [asset(".js"), asset(".css")]) {
      const response = await fetch(app.url + path, { headers: { "Accept-Encoding": "br" } });

      expect([path, response.status]).to.deep.equal([path, 200]);
      expect(response.headers.get("Cache-Control")).to.equal("public, max-age=31536000, immutable");
      expect(response.headers.get("Content-Encoding")).to.equal("br");
    }
  });

  it("says how to build it where it is not built", () => {
    const empty = mkdtempSync(join(tmpdir(), "signalbox-guide-"));
    const router = new Router();
    mountGuide(router, empty);
    rmSync(empty, { recursive: true });

    const [layer] = router.match("/guide/reference/api", "GET").path;
    const context = { path: "/guide/reference/api", method: "GET" };

    expect(() => layer?.stack[0]?.(context as never, (async () => {}) as never)).to.throw(/run `npm run build`/);
  });

  it("works in a browser without an error and without a request to another host: search, links, dark mode", async () => {
    const page = await contexts.open("about:blank", { colorScheme: "dark" });
    const others: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(app.url)) others.push(request.url());
    });
    await page.goto(`${app.url}/guide/`);
    await page.getByRole("button", { name: "Search" }).first().click();
    await page.locator("input[type=search]").fill("retention.completedAfter");
    await page.getByRole("option").first().click();
    await page.waitForURL("**/guide/reference/**");
    await page.getByRole("link", { name: "Your first job" }).first().click();
    await page.waitForURL("**/guide/tutorials/first-job");

    expect(await page.getAttribute("html", "class")).to.include("dark");
    expect(others).to.deep.equal([]);
  });

  it("has no serious axe-core findings, light, dark or on a phone", async () => {
    for (const colorScheme of ["light", "dark"] as const) {
      for (const width of [1280, 390]) {
        const page = await contexts.open(`${app.url}/guide/tutorials/first-job`, {
          ...{ colorScheme, viewport: { width, height: 800 } },
        });
        await page.evaluate(AXE);
        const { violations } = await page.evaluate<AxeResults>("axe.run({ resultTypes: ['violations'] })");
        const serious = violations.filter(({ impact }) => impact === "serious" || impact === "critical");

        expect(serious.map(({ id, nodes }) => [id, ...nodes.map(({ target }) => String(target))])).to.deep.equal([]);
      }
    }
  });

  it("links to the dashboard and to the API reference", async () => {
    const page = await contexts.open(`${app.url}/guide/reference/api`);
    const links = page.locator("nav a");
    const paths = await eventually(async () => {
      const found = await links.evaluateAll((all) =>
        all.map((one) => new URL((one as { href?: string }).href ?? "").pathname),
      );
      return found.length > 3 && found;
    }, "the links");

    expect(paths).to.include.members(["/", "/docs", "/guide/"]);
  });
});
