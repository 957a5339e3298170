import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { createServer, request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buffer } from "node:stream/consumers";
import { brotliDecompressSync, gunzipSync, gzipSync } from "node:zlib";
import Router from "@koa/router";
import { expect } from "chai";
import Koa from "koa";
import { DASHBOARD, mountDashboard } from "../../src/api/pages/dashboard.ts";
import { PATHS } from "../../src/dashboard/paths.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";
import { eventually, untilPasses } from "../support/eventually.ts";

const ASSETS = readdirSync(join(DASHBOARD, "assets")).filter((name) => !/\.(gz|br)$/.test(name));
const asset = (ending: string) => `/assets/${ASSETS.find((name) => name.endsWith(ending))}`;
const addresses = PATHS.map((path) => path.replace(/:\w+/, "ci%2F7"));

/** Returns the response's bytes as sent; fetch would decompress them. */
async function raw(url: string, headers: Record<string, string> = {}, method = "GET") {
  const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
    request(url, { method, headers }, resolve).on("error", reject).end();
  });
  return { status: response.statusCode, headers: response.headers, body: await buffer(response) };
}

describe("dashboard files", () => {
  const contexts = new BrowserContexts();
  let app: TestApp;
  before(async () => {
    app = await startApp();
  });
  afterEach(() => contexts.closeAll());
  after(() => app.close());

  it("are one document at every path, with a policy that forbids inline code and other hosts", async () => {
    for (const path of addresses) {
      const { status, headers, body } = await app.call("GET", path);

      expect([path, status, headers.get("Content-Type")]).to.deep.equal([path, 200, "text/html; charset=utf-8"]);
      // Nobody has to log in here, so that two pages have the first answers of the API in their document.
      const isOwn = path === "/" || path.startsWith("/jobs/");
      expect(headers.get("Cache-Control")).to.equal(isOwn ? "no-store" : "no-cache");
      expect(headers.get("Content-Security-Policy")).to.equal(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; font-src 'self'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'",
      );
      expect(body)
        .to.include('<div id="page">')
        .and.not.match(/style=|<style|<script>|https?:\/\//);
    }
  });

  it("are cached for a year under names with a hash, and answered with 304 while they are the same", async () => {
    for (const path of [asset(".js"), asset(".css"), asset(".svg"), "/runs"]) {
      const first = await raw(app.url + path);
      const again = await raw(app.url + path, { "If-None-Match": first.headers.etag as string });
      const changed = await raw(app.url + path, { "If-None-Match": 'W/"another"' });

      expect([first.status, again.status, changed.status]).to.deep.equal([200, 304, 200]);
      expect(again.body.length).to.equal(0);
      const isAsset = path !== "/runs";
      expect(first.headers["cache-control"]).to.equal(isAsset ? "public, max-age=31536000, immutable" : "no-cache");
    }
  });

  it("are compressed as the browser accepts, and sent without a body for HEAD", async () => {
    const url = app.url + asset(".js");
    const plain = await raw(url);
    const gzip = await raw(url, { "Accept-Encoding": "gzip" });
    const brotli = await raw(url, { "Accept-Encoding": "gzip, deflate, br" });
    const head = await raw(url, {}, "HEAD");

    expect([plain, gzip, brotli].map((one) => one.headers["content-encoding"])).to.deep.equal([
      undefined,
      "gzip",
      "br",
    ]);
    expect(gunzipSync(gzip.body).equals(plain.body)).to.equal(true);
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).to.equal(true);
    expect(plain.headers["content-type"]).to.equal("text/javascript; charset=utf-8");
    expect([plain.headers.vary, head.status, head.body.length]).to.deep.equal(["Accept-Encoding", 200, 0]);
    expect(head.headers["content-length"]).to.equal(String(plain.body.length));
  });

  it("answer a browser at an unknown address with a page and 404, and programs and the API with JSON", async () => {
    const browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
    const types = async (path: string, Accept: string) => {
      const { status, headers } = await raw(app.url + path, { Accept });
      return [status, headers["content-type"]?.split(";")[0]];
    };
    expect(await types("/no/such/page", browser)).to.deep.equal([404, "text/html"]);
    expect(await types("/no/such/page", "*/*")).to.deep.equal([404, "application/problem+json"]);
    expect(await types("/no/such/page", "application/json")).to.deep.equal([404, "application/problem+json"]);
    expect(await types("/api/nothing", browser)).to.deep.equal([404, "application/problem+json"]);

    const page = await contexts.open(`${app.url}/no/such/page`);
    await page.getByRole("heading", { level: 1, name: "Page not found" }).waitFor();
    await untilPasses(async () => expect(await page.title()).to.equal("Page not found · Signalbox"));
    await page.getByRole("link", { name: "See all jobs" }).click();
    await page.getByText("No jobs yet").waitFor();
  });

  it("reject other names and other methods", async () => {
    for (const path of [
      "/assets/nothing.js",
      "/assets/",
      "/assets/..%2Findex.html",
      "/assets/%2e%2e%2fsources",
      "/index.html",
    ]) {
      const { status, body } = await app.call("GET", path);
      expect([path, status, body.code]).to.deep.equal([path, 404, "not_found"]);
    }

    expect((await app.call("POST", "/runs")).status).to.equal(405);
  });

  it("say how to build them if they are missing", async () => {
    const empty = mkdtempSync(join(tmpdir(), "signalbox-unbuilt-"));
    const router = new Router();
    mountDashboard(router, empty);
    const server = createServer(new Koa().use(router.routes()).callback()).listen(0, "127.0.0.1");
    try {
      await new Promise((listening) => server.once("listening", listening));
      const { port } = server.address() as import("node:net").AddressInfo;
      const response = await fetch(`http://127.0.0.1:${port}/jobs/a`);

      expect(response.status).to.equal(503);
      expect(await response.text()).to.include("npm run build<");
    } finally {
      server.close();
      rmSync(empty, { recursive: true });
    }
  });

  it("are smaller than 85 kB compressed at the first load, and 130 kB in all", () => {
    const document = readFileSync(join(DASHBOARD, "index.html"), "utf8");
    const sizeOf = (name: string) => gzipSync(readFileSync(join(DASHBOARD, name))).length;
    const assets = ASSETS.map((name) => ({ name, bytes: sizeOf(join("assets", name)) }));
    const sum = (files: typeof assets) => files.reduce((bytes, file) => bytes + file.bytes, sizeOf("index.html"));

    expect(sum(assets.filter(({ name }) => document.includes(name)))).to.be.lessThan(85_000);
    expect(sum(assets)).to.be.lessThan(130_000);
  });

  it("load nothing from other hosts", async () => {
    const page = await contexts.open("about:blank");
    const asked: string[] = [];
    page.on("request", (one) => asked.push(new URL(one.url()).origin));

    await page.goto(app.url);
    await page.getByText("No jobs yet").waitFor();

    expect(new Set(asked)).to.deep.equal(new Set([app.url]));
  });

  it("render with the document, one script and one style only", async () => {
    const page = await contexts.open("about:blank");
    await page.route(`${app.url}/api/**`, () => {}); // The requests never complete.
    await page.goto(app.url, { waitUntil: "commit" });

    const painted = "performance.getEntriesByName('first-contentful-paint').length > 0";
    await eventually(() => page.evaluate<boolean>(painted), "something to be on the screen");

    const files = "performance.getEntriesByType('resource').filter(({ name }) => /\\.(js|css)$/.test(name)).length";
    await untilPasses(async () => expect(await page.evaluate(files)).to.equal(2));
  });
});
