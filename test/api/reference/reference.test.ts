import { execFile } from "node:child_process";
import { promisify } from "node:util";
import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { request } from "undici";
import type { OpenApi } from "../../../src/api/reference/document.ts";
import { referencePage } from "../../../src/api/reference/page.ts";
import { ERRORS } from "../../../src/shared/errorCatalogue.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { findings } from "../../support/axe.ts";
import { BrowserContexts } from "../../support/browser.ts";

const execute = promisify(execFile);

describe("API reference", function () {
  this.timeout(300_000);
  const contexts = new BrowserContexts();
  let app: TestApp;
  let document: OpenApi;
  before(async () => {
    app = await startApp();
    document = (await app.call("GET", "/openapi.json")).body;
  });
  afterEach(() => contexts.closeAll());
  after(() => app.close());

  const operations = () => Object.values(document.paths).flatMap((methods) => Object.values(methods));

  it("has a section for every operation and every schema, and every link leads to one", async () => {
    const { body } = await app.call("GET", "/docs");
    const ids = new Set([...body.matchAll(/ id="([^"]+)"/g)].map(([, id]) => id));

    for (const { operationId } of operations()) expect(ids, operationId).to.include(operationId);
    for (const name of Object.keys(document.components.schemas)) expect(ids).to.include(`schema-${name}`);
    for (const [, anchor] of body.matchAll(/href="#([^"]+)"/g)) expect(ids).to.include(anchor);
  });

  it("loads nothing but the page itself, which has less than 600 kB", async () => {
    const loaded: { url: string; bytes: number }[] = [];
    const page = await contexts.open("about:blank");
    page.on("response", async (response) => {
      const sizes = await response.request().sizes();
      loaded.push({ url: new URL(response.url()).pathname, bytes: sizes.responseBodySize });
    });
    await page.goto(`${app.url}/docs`, { waitUntil: "networkidle" });

    expect(loaded.map(({ url }) => url).filter((url) => url !== "/favicon.ico")).to.deep.equal(["/docs"]);
    expect((await app.call("GET", "/docs")).body.length).to.be.below(600_000);
  });

  for (const path of ["/docs", "/docs/errors", "/openapi.json"]) {
    it(`sends ${path} compressed, and 304 to a client that has it`, async () => {
      const headers = { "accept-encoding": "gzip" };
      const first = await request(app.url + path, { headers });
      const body = Buffer.from(await first.body.arrayBuffer());
      const again = await request(app.url + path, {
        headers: { ...headers, "if-none-match": String(first.headers.etag) },
      });
      await again.body.dump();

      expect(first.headers["content-encoding"]).to.equal("gzip");
      expect(gunzipSync(body).length).to.be.greaterThan(2 * body.length);
      expect(again.statusCode).to.equal(304);
    });
  }

  it("has no findings of axe-core in light and dark and on a phone, where it does not scroll sideways", async () => {
    for (const path of ["/docs", "/docs/errors"]) {
      const page = await contexts.open(app.url + path, {
        colorScheme: "light",
        viewport: { width: 1280, height: 800 },
      });
      expect(await findings(page), path).to.deep.equal([]);
      await page.emulateMedia({ colorScheme: "dark" });
      expect(await findings(page, ["color-contrast"]), `${path} in the dark`).to.deep.equal([]);
      await page.setViewportSize({ width: 390, height: 780 });
      expect(await findings(page), `${path} on a phone`).to.deep.equal([]);
      const widths = "[document.documentElement.scrollWidth, document.documentElement.clientWidth]";
      const [width, room] = await page.evaluate<number[]>(widths);
      expect(width, `the width of ${path} on a phone`).to.equal(room);
    }
  });

  it("leads by keyboard from the contents to an operation", async () => {
    const page = await contexts.open(`${app.url}/docs`);
    await page.getByRole("link", { name: "Report a step" }).focus();
    await page.keyboard.press("Enter");

    expect(new URL(page.url()).hash).to.equal("#reportStep");
    expect(await page.getByRole("heading", { name: "Report a step" }).isVisible()).to.equal(true);
  });

  it("shows requests as commands that work in a shell", async () => {
    const page = await contexts.open(`${app.url}/docs`);
    const env = { ...process.env, SIGNALBOX_URL: app.url, SIGNALBOX_TOKEN: "none" };
    const run = async (operationId: string) => {
      const command = await page.getByRole("region", { name: `Request of ${operationId}` }).textContent();
      const { stdout } = await execute("sh", ["-c", `${command} -sS`], { env });
      return JSON.parse(stdout);
    };

    expect(await run("putJob")).to.include({ jobId: "import-2041", status: "running", name: "Nightly import" });
    expect(await run("reportStep")).to.include({ jobId: "import-2041", stepKey: "load" });
    expect((await run("listJobs")).jobs).to.have.length(1);
  });

  it("escapes texts of the description", () => {
    const operation = {
      ...{ operationId: "a", tags: ["jobs"], summary: "<b>", description: "<img src=x>", responses: {} },
      parameters: [{ name: "<i>", in: "query" as const, required: false, schema: { enum: ["<u>"] } }],
    };
    const page = referencePage({
      ...{ info: { title: "T", version: "1", description: "" }, security: [{}] },
      ...{ tags: [{ name: "jobs", description: "" }], paths: { "/a": { get: operation } } },
      components: { schemas: {}, securitySchemes: {} },
    });

    for (const tag of ["<b>", "<img", "<i>", "<u>"]) expect(page).to.not.include(tag);
  });

  it("has an entry for every error code at /docs/errors", async () => {
    const { status, body } = await app.call("GET", "/docs/errors");

    expect(status).to.equal(200);
    for (const code of Object.keys(ERRORS)) expect(body).to.include(`id="${code}"`);
  });
});
