import { gunzipSync } from "node:zlib";
import { expect } from "chai";
import { request } from "undici";
import type { OpenApi } from "../../../src/api/reference/document.ts";
import { referencePage } from "../../../src/api/reference/page.ts";
import { ERRORS } from "../../../src/shared/errorCatalogue.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { BrowserContexts } from "../../support/browser.ts";

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

  it("names the address by which it was asked for in its example", async () => {
    const { port } = new URL(app.url);
    const docs = async (host: string) => await (await request(`${app.url}/docs`, { headers: { host } })).body.text();

    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`])
      expect(await docs(host))
        .to.include(`export SIGNALBOX_URL=http://${host}\n`)
        .and.not.include("SERVICE_URL");
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

  it("escapes texts of the description", () => {
    const operation = {
      operationId: "a",
      tags: ["jobs"],
      summary: "<b>",
      description: "<img src=x>",
      responses: {},
      parameters: [{ name: "<i>", in: "query" as const, required: false, schema: { enum: ["<u>"] } }],
    };
    const page = referencePage({
      info: { title: "T", version: "1", description: "" },
      security: [{}],
      tags: [{ name: "jobs", description: "" }],
      paths: { "/a": { get: operation } },
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
