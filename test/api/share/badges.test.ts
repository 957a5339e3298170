import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";

const API = "an-api-token-of-length";
const TEAM = "the-token-of-another-team";
const REPORTER = "a-token-that-only-reports";
const HOUR_MS = 3_600_000;
const bearer = { Authorization: `Bearer ${API}` };

describe("badges of names", () => {
  let app: TestApp;
  before(async () => {
    const tokens = [
      { name: "team", token: TEAM, scopes: ["jobs:read"], jobs: { idPrefix: "team/" } },
      { name: "reporter", token: REPORTER, scopes: ["jobs:report"] },
    ];
    const config = JSON.stringify({ server: { apiToken: API, tokens, publicBadges: ["Nightly backup"] } });
    app = await startApp({ config, countFailure: async () => {} });
  });
  after(() => app.close());

  const put = (jobId: string, body: object) => app.call("PUT", `/api/jobs/${encodeURIComponent(jobId)}`, body, bearer);
  async function read(
    name: string,
    { form = "json", token, etag }: { form?: string; token?: string; etag?: string } = {},
  ) {
    const query = token === undefined ? "" : `?token=${token}`;
    const headers: Record<string, string> = etag === undefined ? {} : { "If-None-Match": etag };
    const response = await fetch(`${app.url}/badge/${encodeURIComponent(name)}.${form}${query}`, { headers });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      json: form === "json" && text ? JSON.parse(text) : null,
    };
  }

  it("shows the newest ended job of exactly that name, and its age", async () => {
    await put("b1", { name: "Report", status: "failed" });
    await put("b2", { name: "Report", status: "completed" });
    await put("b3", { name: "Report" });
    await put("b4", { name: "Report of another", status: "failed" });
    await put("lower", { name: "report", status: "failed" });
    app.clock.advance(3 * HOUR_MS + 60_000);
    const { json } = await read("Report", { token: API });

    expect(json).to.deep.equal({ schemaVersion: 1, label: "Report", message: "completed 3 h ago", color: "green" });
    await put("b5", { name: "Report", status: "failed" });
    expect((await read("Report", { token: API })).json).to.deep.include({ message: "failed just now", color: "red" });
  });

  it("is grey without runs, and says that the only job is running", async () => {
    expect((await read("None <of> it", { token: API })).json).to.deep.include({ message: "no runs", color: "grey" });
    await put("b6", { name: "New / one" });
    expect((await read("New / one", { token: API })).json).to.deep.include({ label: "New / one", message: "running" });
  });

  it("escapes its texts, whatever the name is", async () => {
    const { status, headers, text } = await read(`"><script>alert(1)</script>`, { form: "svg", token: API });

    expect(status).to.equal(200);
    expect(headers.get("Content-Type")).to.equal("image/svg+xml; charset=utf-8");
    expect(headers.get("Content-Security-Policy")).to.include("default-src 'none'");
    expect(text).not.to.include("<script").and.not.include('"><');
    expect(text).to.include("&#60;script&#62;");
  });

  it("is cached for a minute, and answers 304 while it is the same", async () => {
    const first = await read("Cached", { form: "svg", token: API });
    const etag = first.headers.get("ETag") as string;

    expect(first.headers.get("Cache-Control")).to.equal("private, max-age=60");
    expect((await read("Cached", { form: "svg", token: API, etag })).status).to.equal(304);
    await put("b7", { name: "Cached", status: "completed" });
    expect((await read("Cached", { form: "svg", token: API, etag })).status).to.equal(200);
  });

  it("needs a token with jobs:read, except for the names of the configuration", async () => {
    await put("b8", { name: "Nightly backup", status: "completed" });
    const open = await read("Nightly backup");

    expect([open.status, open.headers.get("Cache-Control")]).to.deep.equal([200, "public, max-age=60"]);
    expect(open.headers.get("Cross-Origin-Resource-Policy")).to.equal("cross-origin");
    for (const name of ["Nightly", "nightly backup", "Other"]) {
      expect((await read(name)).status, name).to.equal(401);
      expect((await read(name, { token: "wrong" })).status, name).to.equal(401);
      expect((await read(name, { token: REPORTER })).status, name).to.equal(403);
    }
  });

  it("shows a confined token only its own jobs", async () => {
    await put("other/1", { name: "Shared name", status: "failed" });
    expect((await read("Shared name", { token: TEAM })).json.message).to.equal("no runs");
    await put("team/1", { name: "Shared name", status: "completed" });
    expect((await read("Shared name", { token: TEAM })).json.color).to.equal("green");
  });

  it("answers 404 at another path", async () => {
    const { status } = await app.call("GET", "/badge/Report.png", undefined, bearer);
    expect(status).to.equal(404);
  });
});
