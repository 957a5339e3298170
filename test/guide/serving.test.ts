import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import Router from "@koa/router";
import { expect } from "chai";
import { mountGuide } from "../../src/api/guide/guide.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";
import { untilPasses } from "../support/eventually.ts";

describe("the guide", () => {
  const contexts = new BrowserContexts();
  let app: TestApp;
  before(async () => {
    app = await startApp({ apiToken: "a-token-of-32-characters-for-tests" });
  });
  afterEach(() => contexts.closeAll());
  after(() => app.close());

  const redirect = async (path: string) => {
    const response = await fetch(app.url + path, { redirect: "manual" });
    return [response.status, response.headers.get("Location")];
  };

  it("is served without a token, with the policy of the dashboard", async () => {
    const dashboard = await app.call("GET", "/");
    for (const path of [
      "/guide/",
      "/guide/reference/configuration",
      "/guide/tutorials/first-job",
      "/guide/search?q=a",
    ]) {
      const { status, headers, body } = await app.call("GET", path);

      expect([path, status, headers.get("Content-Type")]).to.deep.equal([path, 200, "text/html; charset=utf-8"]);
      for (const name of ["Cache-Control", "Content-Security-Policy", "X-Content-Type-Options", "Referrer-Policy"]) {
        expect([name, headers.get(name)]).to.deep.equal([name, dashboard.headers.get(name)]);
      }
      expect(body).to.not.match(/<style|<script>|style="|\son\w+="|<(script|link|img)[^>]*(src|href)="https?:/);
    }
    expect(dashboard.headers.get("Content-Security-Policy")).to.match(
      /default-src 'none'; script-src 'self'; style-src 'self'/,
    );
  });

  it("answers 304 to a browser that has the page, and serves pictures and other files of docs/", async () => {
    const { headers } = await app.call("GET", "/guide/how-to/deploy");
    const again = await fetch(`${app.url}/guide/how-to/deploy`, {
      headers: { "If-None-Match": `${headers.get("ETag")}`, "Cache-Control": "max-age=0" },
    });
    const types = ["screenshots/jobs.png", "how-to/alerts.yml", "how-to/grafana-dashboard.json"].map(async (path) => {
      const response = await fetch(`${app.url}/guide/${path}`);
      await response.bytes();
      return response.headers.get("Content-Type");
    });

    expect(again.status).to.equal(304);
    expect(await Promise.all(types)).to.deep.equal([
      ...["image/png", "text/yaml; charset=utf-8", "application/json; charset=utf-8"],
    ]);
  });

  it("redirects from its path without a slash, relative to where it is served, and from other spellings of a page", async () => {
    expect(await redirect("/guide")).to.deep.equal([302, "guide/"]);
    for (const spelling of ["how-to/deploy/", "how-to/deploy.html", "how-to/deploy.md"]) {
      expect(await redirect(`/guide/${spelling}`)).to.deep.equal([302, "/guide/how-to/deploy"]);
    }
  });

  it("responds with a page to a person and with a problem to a program where there is no page", async () => {
    for (const path of [
      "nothing",
      "how-to",
      "../package.json",
      "..%2fpackage.json",
      "how-to/../../package.json",
      "%",
    ]) {
      const { status, headers, body } = await app.call("GET", `/guide/${path}`, undefined, { Accept: "text/html" });
      expect([path, status, headers.get("Content-Type")]).to.deep.equal([path, 404, "text/html; charset=utf-8"]);
      expect(body).to.not.include("devDependencies");
    }
    const problem = await app.call("GET", "/guide/nothing", undefined, { Accept: "application/json" });

    expect([problem.status, problem.body.code]).to.deep.equal([404, "not_found"]);
  });

  it("says how to build its frame where the dashboard is not built", () => {
    const empty = mkdtempSync(join(tmpdir(), "signalbox-guide-"));
    const router = new Router();
    mountGuide(router, empty);
    rmSync(empty, { recursive: true });

    const [layer] = router.match("/guide/reference/api", "GET").path;
    const context = { path: "/guide/reference/api", method: "GET" };

    expect(() => layer?.stack[0]?.(context as never, (async () => {}) as never)).to.throw(/run `npm run build`/);
  });

  it("answers while a search is typed, by the keyboard alone, without a request to another host", async () => {
    const page = await contexts.open(`${app.url}/guide/`);
    const others: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(app.url)) others.push(request.url());
    });
    await page.keyboard.press("/");
    await page.keyboard.type("restore a back");
    const first = page.locator(".found li a").first();
    await first.filter({ hasText: "Back up and restore" }).waitFor();
    await untilPasses(async () =>
      expect(await page.locator(".found li mark").first().textContent()).to.match(/restore|back/i),
    );

    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Enter");
    await page.waitForURL("**/guide/how-to/back-up*");
    await page.getByRole("link", { name: "Deploy", exact: true }).click();
    await page.waitForURL("**/guide/how-to/deploy");
    expect(others).to.deep.equal([]);
  });

  it("offers the questions where a search finds nothing", async () => {
    const page = await contexts.open(`${app.url}/guide/how-to/deploy`);
    await page.keyboard.press("Control+k");
    await page.keyboard.type("xylophone");
    await page.locator(".found").getByRole("link", { name: "See all questions" }).click();

    await page.waitForURL(`${app.url}/guide/`);
  });

  it("copies code, and has the theme of the dashboard, which its button changes", async () => {
    const page = await contexts.open(`${app.url}/guide/how-to/deploy`, {
      permissions: ["clipboard-read", "clipboard-write"],
    });
    await page.getByRole("button", { name: "Copy the code" }).first().click();
    await untilPasses(async () =>
      expect(await page.evaluate("navigator.clipboard.readText()")).to.include("npx signalbox init"),
    );

    await page.evaluate("localStorage.setItem('signalbox.theme', 'dark')");
    await page.reload();
    await untilPasses(async () => expect(await page.getAttribute("html", "data-theme")).to.equal("dark"));
    await page.getByRole("button", { name: "Change the theme" }).click();
    await untilPasses(async () => expect(await page.getAttribute("html", "data-theme")).to.equal("light"));
    await untilPasses(async () =>
      expect(await page.evaluate("localStorage.getItem('signalbox.theme')")).to.equal("light"),
    );
  });

  it("can be read, searched and left without JavaScript", async () => {
    const page = await contexts.open(`${app.url}/guide/how-to/deploy`, { javaScriptEnabled: false });
    await page.getByRole("searchbox").fill("retention.completedAfter");
    await page.getByRole("searchbox").press("Enter");
    await page.locator(".hits a").first().click();
    await page.getByRole("heading", { level: 1 }).waitFor();
    const links = await page.getByRole("navigation", { name: "Main" }).getByRole("link").all();

    await untilPasses(async () =>
      expect(await Promise.all(links.map((link) => link.getAttribute("href")))).to.deep.equal([
        "/",
        "/guide/",
        "/docs",
      ]),
    );
  });
});
