import { request } from "node:http";
import { buffer } from "node:stream/consumers";
import { expect } from "chai";
import { createClient } from "../../src/client/client.ts";
import { parseConfig } from "../../src/config/load.ts";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts, enterToken, waitForAddress } from "../support/browser.ts";

const TOKEN = "an-api-token-of-length";
const HOOK_TOKEN = "a-hook-token-of-length";
const AUTH = { Authorization: `Bearer ${TOKEN}` };
const HOOK_AUTH = { Authorization: `Bearer ${HOOK_TOKEN}` };

describe("server.basePath", () => {
  const contexts = new BrowserContexts();
  let app: TestApp;
  let origin: string;
  before(async () => {
    const config = `{ hooks: { enabled: true, token: "${HOOK_TOKEN}" }, channels: { log: {} } }`;
    app = await startApp({ apiToken: TOKEN, basePath: "/signalbox", config });
    origin = new URL(app.url).origin;
    await app.call("PUT", "/api/jobs/ci%2F7", { name: "Build 7" }, AUTH);
  });
  afterEach(() => contexts.closeAll());
  after(() => app.close());

  it("is part of the URL that a started service reports", () => {
    expect(new URL(app.url).pathname).to.equal("/signalbox");
  });

  it("serves the API, with the path in the type of errors and in details", async () => {
    const job = await app.call("GET", "/api/jobs/ci%2F7", undefined, AUTH);
    const missing = await app.call("GET", "/api/jobs/none", undefined, AUTH);
    const unknown = await app.call("GET", "/apj", undefined, AUTH);
    const unauthenticated = await app.call("GET", "/api/jobs");

    expect([job.status, job.body.name]).to.deep.equal([200, "Build 7"]);
    expect(job.headers.get("Content-Security-Policy")).to.equal("default-src 'none';frame-ancestors 'none'");
    expect(job.headers.get("Cache-Control")).to.equal("no-store");
    expect([missing.status, missing.body.type]).to.deep.equal([404, "/signalbox/docs/errors#job_not_found"]);
    expect(unknown.body.detail).to.include("/signalbox/apj").and.to.include("/signalbox/docs");
    expect(unauthenticated.status).to.equal(401);
  });

  it("serves hooks, with the path in Location and in advice", async () => {
    const accepted = await app.call("POST", "/hooks/agent", { message: "Hello", deliver: false }, HOOK_AUTH);
    const mistyped = await app.call("POST", "/hooks/agnet", { message: "Hello" }, HOOK_AUTH);

    expect(accepted.status).to.equal(202);
    expect(accepted.headers.get("Location")).to.equal(`/signalbox/api/runs/${accepted.body.runId}`);
    const run = await fetch(origin + accepted.headers.get("Location"), { headers: HOOK_AUTH });
    expect(run.status).to.equal(200);
    expect(mistyped.body.detail).to.include("Did you mean /signalbox/hooks/agent?");
  });

  it("serves a request whose target is an absolute URL", async () => {
    const target = `${app.url}/healthz`;
    const response = await new Promise<import("node:http").IncomingMessage>((resolve, reject) => {
      request(origin, { path: target, agent: false }, resolve).on("error", reject).end();
    });

    expect([response.statusCode, String(await buffer(response))]).to.deep.equal([200, '{"status":"ok"}\n']);
  });

  it("serves the metrics and the documents, whose addresses contain the path", async () => {
    const metrics = await app.call("GET", "/metrics", undefined, AUTH);
    const openApi = await app.call("GET", "/openapi.json");
    const errors = await app.call("GET", "/docs/errors");

    expect(metrics.body).to.include("signalbox_");
    expect(openApi.body.servers).to.deep.equal([{ url: "/signalbox" }]);
    expect(openApi.body.info.description).to.include("(/signalbox/docs/errors)");
    const links = [...errors.body.matchAll(/href="(?!data:)([^#"][^"]*)"/g)].map(
      ([, href]) => new URL(href, `${app.url}/docs/errors`).pathname,
    );
    expect(links).to.include.members(["/signalbox/", "/signalbox/guide/reference/errors", "/signalbox/docs"]);
    for (const link of links) expect(link).to.match(/^\/signalbox\//);
  });

  it("is a prefix outside of which nothing answers but probes", async () => {
    const paths = ["/", "/api/jobs", "/hooks/agent", "/metrics", "/docs", "/guide/", "/openapi.json"];
    const others = ["/signalboxes/healthz", "/signalbox%2Fhealthz", "/healthz/", "//signalbox/healthz"];
    for (const path of [...paths, ...others]) {
      const response = await fetch(origin + path, { headers: AUTH });
      const body = (await response.json()) as { code: string; detail: string };
      expect([path, response.status, body.code]).to.deep.equal([path, 404, "not_found"]);
      expect(body.detail).to.include("/signalbox (server.basePath)");
    }
    for (const path of ["/healthz", "/readyz", "/signalbox/healthz", "/signalbox/readyz"]) {
      expect([path, (await fetch(origin + path)).status]).to.deep.equal([path, 200]);
    }
  });

  it("limits the log-in's cookie", async () => {
    const login = await app.call("POST", "/session", { token: TOKEN });

    expect(login.headers.get("Set-Cookie")).to.include("; Path=/signalbox; HttpOnly");
  });

  it("serves the dashboard at the path itself, without a slash at its end", async () => {
    const page = await contexts.open(app.url);
    await enterToken(page, TOKEN);

    await page.getByRole("link", { name: "Build 7" }).waitFor();
  });

  it("serves the guide: pages, search and links", async () => {
    const failed: string[] = [];
    const page = await contexts.open("about:blank");
    page.on("response", (response) => {
      if (response.status() >= 400) failed.push(response.url());
    });
    await page.goto(`${app.url}/guide`);
    await waitForAddress(page, "pathname", "/signalbox/guide/");
    await page.getByText("I want to look something up").first().click();
    await page.getByRole("link", { name: "Configuration", exact: true }).first().click();
    await page.waitForURL(`${app.url}/guide/reference/configuration`);
    await page.reload();
    await page.getByRole("heading", { name: "Configuration", level: 1 }).waitFor();
    await page.getByRole("searchbox").fill("heartbeat");
    await page.locator(".found a").first().click();
    await page.waitForURL(
      (url) =>
        url.pathname.startsWith("/signalbox/guide/") && url.pathname !== "/signalbox/guide/reference/configuration",
    );
    await page.goto(`${app.url}/guide/reference/configuration/`);
    await waitForAddress(page, "href", `${app.url}/guide/reference/configuration`);
    expect(failed).to.deep.equal([]);
  });

  it("lets clients with the URL of the service report and watch", async () => {
    const client = createClient({ url: app.url, token: TOKEN });
    try {
      await client.job("from-client").create({ name: "From a client" });
      const states = client.watchJob("from-client");
      for await (const job of states) {
        expect(job.name).to.equal("From a client");
        break;
      }
    } finally {
      await client.close();
    }
  });
});

describe("the check of server.basePath", () => {
  const problems = (basePath: string) => {
    try {
      parseConfig(JSON.stringify({ server: { basePath } }), {});
      return null;
    } catch (error) {
      return (error as Error).message;
    }
  };

  it("accepts paths of one or more segments", () => {
    for (const path of ["/signalbox", "/tools/signal-box", "/~me/box_1.0"])
      expect([path, problems(path)]).to.deep.equal([path, null]);
  });

  it("rejects a slash at the end, no slash at the beginning, dot segments and other characters", () => {
    for (const path of [
      "/",
      "/signalbox/",
      "signalbox",
      "/a/../b",
      "/a//b",
      "/ä",
      "/a?b",
      "/a%20b",
      "https://example.com/a",
    ])
      expect(problems(path), path).to.include("server.basePath must look like /signalbox");
  });

  it("rejects the paths of probes, which also answer outside of it", () => {
    for (const path of ["/healthz", "/readyz/a"]) expect(problems(path)).to.include("must not begin with");
  });
});
