import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { CLIENT, type OidcProvider, startOidcProvider } from "../../support/oidcProvider.ts";
import { PersonBrowser, PUBLIC_URL } from "../../support/personBrowser.ts";

const TOKEN = "a-token-of-some-length";
const ROLES = [
  { groups: ["sre", "ops"], scopes: ["admin"] },
  { groups: ["sales"], scopes: ["jobs:read", "gates:answer"], jobs: { idPrefix: "sales/" } },
  { groups: ["import"], scopes: ["jobs:read", "jobs:create"], jobs: { idPrefix: "import/" } },
  { groups: ["auditor"], scopes: ["runs:read"] },
];

describe("log-in with the company's account", () => {
  let provider: OidcProvider;
  let app: TestApp;
  let browser: PersonBrowser;
  const start = (oidc: object = {}, options: Parameters<typeof startApp>[0] = {}) => {
    const section = { issuer: provider.issuer, ...CLIENT, roles: ROLES, ...oidc };
    const server = { publicUrl: PUBLIC_URL, basePath: "/signalbox", oidc: section };
    return startApp({ config: JSON.stringify({ server }), ...options });
  };
  beforeEach(async () => {
    provider = await startOidcProvider();
    app = await start();
    browser = new PersonBrowser(app);
  });
  afterEach(async () => {
    await app.close();
    await provider.close();
  });
  const call = (method: string, path: string, body?: object, headers: object = browser.headers) =>
    app.call(method, path, body, headers as Record<string, string>);
  const session = async () => (await call("GET", "/session")).body;
  const groups = (...names: string[]) => {
    provider.claims = { ...provider.claims, groups: names };
  };

  it("logs a person in and goes on to the page that they wanted, with the roles of their groups", async () => {
    const answer = await browser.logIn("/signalbox/jobs/a%2Fb?tab=log");
    const made = await call("PUT", "/api/jobs/a", {});
    const removed = await call("DELETE", "/api/jobs/a");
    const { entries } = (await call("GET", "/api/audit")).body;

    expect(answer.status).to.equal(200);
    expect(answer.text).to.include(
      '<meta http-equiv="refresh" content="0; url=https://jobs.example.com/signalbox/jobs/a%2Fb?tab=log">',
    );
    expect(await session()).to.deep.include({
      needsToken: true,
      access: "full",
      name: "Ann",
      by: "provider",
      scopes: ["admin"],
    });
    expect([made.status, removed.status]).to.deep.equal([201, 200]);
    const acts = entries.map(({ actor, action }: { actor: string; action: string }) => [actor, action]);
    expect(acts).to.deep.equal([
      ["oidc:ann@example.com", "job.delete"],
      ["oidc:ann@example.com", "login"],
    ]);
  });

  it("sends state, nonce and a challenge, and keeps their secret in a cookie for the callback alone", async () => {
    const { location, setCookies } = await browser.visit(`${PUBLIC_URL}/login/oidc`);
    const query = Object.fromEntries(new URL(location).searchParams);
    const callback = await browser.logIn();

    expect(query).to.include({
      client_id: "signalbox",
      response_type: "code",
      code_challenge_method: "S256",
      redirect_uri: `${PUBLIC_URL}/login/callback`,
      scope: "openid profile email groups",
    });
    expect([query.state, query.nonce, query.code_challenge]).to.not.include(undefined);
    expect(setCookies).to.have.length(1);
    expect(setCookies[0]).to.match(
      /^signalbox_login_[\w-]{2}=[\w-]{43}; Max-Age=600; Path=\/signalbox\/login\/callback; HttpOnly; SameSite=Lax; Secure$/,
    );
    expect(callback.setCookies.find((line) => line.startsWith("signalbox_session="))).to.match(
      /^signalbox_session=sbp_[\w-]+\.[\w-]{43}; Max-Age=4(3199|3200); Path=\/signalbox; HttpOnly; SameSite=Strict; Secure$/,
    );
  });

  it("takes its addresses from publicUrl, whatever Host says", async () => {
    const headers = { Host: "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http" };
    const { location } = await browser.visit(`${PUBLIC_URL}/login/oidc`, headers);

    expect(new URL(location).searchParams.get("redirect_uri")).to.equal(`${PUBLIC_URL}/login/callback`);
    expect((await session()).provider).to.deep.equal({
      name: new URL(provider.issuer).host,
      url: `${PUBLIC_URL}/login/oidc`,
    });
  });

  for (const to of [
    "https://evil.example/",
    "//evil.example/signalbox/",
    "/\\evil.example/signalbox/",
    "javascript:alert(1)",
    "/elsewhere",
    "/signalboxes",
    "/signalbox/../elsewhere",
    "/signalbox/login/oidc",
    "/signalbox/login",
    `/signalbox/${"a".repeat(600)}`,
    `/signalbox/${"字".repeat(400)}`,
  ]) {
    it(`goes on to the first page in place of ${to.slice(0, 40)}`, async () => {
      const { text } = await browser.logIn(to);

      expect(text).to.include('content="0; url=https://jobs.example.com/signalbox/"');
    });
  }

  it("lets nobody in without a log-in where no apiToken is set", async () => {
    const anonymous = new PersonBrowser(app);

    expect((await call("GET", "/api/jobs", undefined, anonymous.headers)).status).to.equal(401);
    expect(await session()).to.deep.include({ needsToken: true, access: null, name: null, by: null });
  });

  it("gives each role its own scopes within its own jobs", async () => {
    groups("sre");
    await browser.logIn();
    for (const id of ["sales/1", "import/1", "other/1"]) {
      await call("PUT", `/api/jobs/${encodeURIComponent(id)}`, {});
      await call("PUT", `/api/jobs/${encodeURIComponent(id)}/gates/ok`, { title: "Go on?" });
    }
    browser = new PersonBrowser(app);
    groups("sales", "import", "auditor");
    await browser.logIn();
    const at = (id: string, rest = "") => `/api/jobs/${encodeURIComponent(id)}${rest}`;
    const status = async (method: string, path: string, body?: object) => (await call(method, path, body)).status;
    const listed = (await call("GET", "/api/jobs")).body.jobs.map(({ jobId }: { jobId: string }) => jobId);
    const gates = (await call("GET", "/api/gates")).body.gates.map(({ jobId }: { jobId: string }) => jobId);
    const answer = { action: "accept" };

    expect(listed.sort()).to.deep.equal(["import/1", "sales/1"]);
    expect(gates.sort()).to.deep.equal(["import/1", "sales/1"]);
    expect(await session()).to.deep.include({ jobIdPrefixes: ["sales/", "import/"], access: "read" });
    expect(await status("GET", at("other/1"))).to.equal(404);
    expect(await status("GET", "/api/runs")).to.equal(200);
    expect(await status("PUT", at("import/2"), {})).to.equal(201);
    expect(await status("PUT", at("sales/2"), {})).to.equal(403);
    expect(await status("POST", at("sales/1", "/gates/ok/answer"), answer)).to.equal(200);
    expect(await status("POST", at("import/1", "/gates/ok/answer"), answer)).to.equal(403);
    expect(await status("POST", at("other/1", "/gates/ok/answer"), answer)).to.equal(403);
    expect(await status("PUT", at("import/3"), { parentJobId: "sales/1" })).to.equal(403);
    expect(await status("DELETE", at("import/1"))).to.equal(403);
    expect(await status("GET", "/api/audit")).to.equal(403);
    expect(await status("GET", "/api/stats/history")).to.equal(403);
  });

  it("refuses a person without a role with a page that names the claim and its values", async () => {
    groups("staff", "<b>bold</b>");
    const { status, text, setCookies } = await browser.logIn();

    expect(status).to.equal(403);
    expect(text).to.include("<strong>groups</strong>").and.include("<li>staff</li>");
    expect(text).to.include("&#60;b&#62;bold").and.include("server.oidc.roles").and.not.include("http-equiv");
    expect(setCookies.join()).to.not.include("signalbox_session=");
  });

  for (const [title, claims] of [
    [
      "texts outside ASCII",
      { sub: "字".repeat(255), email: `${"字".repeat(64)}@${"字".repeat(190)}`, name: "字".repeat(99) },
    ],
    ["texts of quotes", { sub: '"'.repeat(255), email: `${'"'.repeat(64)}@${'"'.repeat(190)}`, name: '"'.repeat(99) }],
    [
      "halves of surrogate pairs",
      { sub: "\ud800".repeat(255), email: `${"\ud800".repeat(64)}@${"\ud800".repeat(190)}` },
    ],
  ] as const) {
    it(`logs in a person with ${title} in many groups, as far as a cookie has room for these`, async () => {
      const others = Array.from({ length: 1_000 }, (_, i) => `group ${i}`);
      provider.claims = { ...provider.claims, ...claims, groups: [...others, "sre"] };
      const { setCookies } = await browser.logIn();

      expect(Math.max(...setCookies.map((line) => line.length))).to.be.below(4_096);
      expect((await session()).scopes).to.deep.equal(["admin"]);
    });
  }

  it("gives everyone who is in none of the groups what the setting everyone says", async () => {
    await app.close();
    app = await start({ everyone: { scopes: ["jobs:read"] } });
    browser = new PersonBrowser(app);
    groups();
    await browser.logIn();

    expect((await session()).scopes).to.deep.equal(["jobs:read"]);
  });

  it("takes the groups from userinfo if the ID token has none", async () => {
    const { groups: _, ...claims } = provider.claims;
    provider.claims = claims;
    provider.userinfo = { groups: ["ops"] };
    await browser.logIn();

    expect((await session()).access).to.equal("full");
  });

  it("says that there are more groups than the provider sends", async () => {
    const { groups: _, ...claims } = provider.claims;
    provider.claims = { ...claims, _claim_names: { groups: "src1" } };
    const { status, text } = await browser.logIn();

    expect([status, text]).to.satisfy(
      ([code, page]: [number, string]) => code === 403 && page.includes("_claim_names"),
    );
  });

  for (const [title, claims, actor] of [
    ["the subject without a verified address", { email_verified: false }, "oidc:ann"],
    ["the subject without an address", { email: undefined }, "oidc:ann"],
    [
      "a subject that looks like an address as a subject",
      { sub: "eve@example.com", email: undefined },
      "oidc:sub=eve@example.com",
    ],
  ] as const) {
    it(`names ${title} in the audit log`, async () => {
      provider.claims = { ...provider.claims, ...claims };
      await browser.logIn();
      const { entries } = (await call("GET", "/api/audit")).body;

      expect(entries[0]).to.include({ actor, action: "login" });
    });
  }

  it("records the person as the one who answers, and lets nobody else take such a name", async () => {
    await browser.logIn();
    await call("PUT", "/api/jobs/a", {});
    for (const key of ["one", "two"]) await call("PUT", `/api/jobs/a/gates/${key}`, { title: "Go on?" });
    const answer = { action: "accept", answeredBy: "Bob" };
    const own = await call("POST", "/api/jobs/a/gates/one/answer", answer);
    const tokens = await start({}, { apiToken: TOKEN, mongo: app.mongoUri });
    const forged = { ...answer, answeredBy: "OIDC:ann@example.com" };
    const other = await tokens.call("POST", "/api/jobs/a/gates/two/answer", forged, {
      Authorization: `Bearer ${TOKEN}`,
    });
    await tokens.close();

    expect(own.body.answeredBy).to.equal("oidc:ann@example.com");
    expect([other.status, other.body.code]).to.deep.equal([400, "invalid_body"]);
  });

  it("applies changed roles to sessions that exist", async () => {
    groups("sales");
    await browser.logIn();
    const scopesWith = async (roles: object[]) => {
      const changed = await start({ roles }, { mongo: app.mongoUri });
      const { body } = await changed.call("GET", "/session", undefined, browser.headers);
      await changed.close();
      return [body.access, body.scopes];
    };

    expect(await scopesWith([{ groups: ["sales"], scopes: ["admin"] }])).to.deep.equal(["full", ["admin"]]);
    expect(await scopesWith([{ groups: ["sre"], scopes: ["admin"] }])).to.deep.equal([null, []]);
  });

  it("ends a session after sessionHours", async () => {
    await browser.logIn();
    app.clock.advance(12 * 3_600_000 + 1_000);

    expect((await session()).access).to.equal(null);
  });

  it("ends the session of another issuer", async () => {
    await browser.logIn();
    const other = await startOidcProvider();
    const changed = await start({ issuer: other.issuer }, { mongo: app.mongoUri });
    const { body } = await changed.call("GET", "/session", undefined, browser.headers);
    await changed.close();
    await other.close();

    expect(body.access).to.equal(null);
  });

  it("logs out here and at the provider, and ends on a page that leads to no log-in by itself", async () => {
    await browser.logIn();
    const { headers } = browser;
    const out = await browser.visit(`${PUBLIC_URL}/session`, {}, "DELETE");
    const left = await browser.visit(`${PUBLIC_URL}/login/logout`);
    const again = await call("GET", "/session", undefined, headers);
    const ended = await browser.visit(new URL(left.location).searchParams.get("post_logout_redirect_uri") as string);

    expect(out.status).to.equal(204);
    expect(left.location).to.match(new RegExp(`^${provider.issuer}/end\\?.*id_token_hint=`));
    expect(again.body.access).to.equal(null);
    expect([ended.status, ended.location]).to.deep.equal([200, ""]);
    expect(ended.text).to.include("You are logged out").and.not.include("http-equiv");
  });

  it("ends a log-out here if the provider has no address for it", async () => {
    provider.discovery = { end_session_endpoint: undefined };
    const { location } = await browser.visit(`${PUBLIC_URL}/login/logout`);

    expect(location).to.equal(`${PUBLIC_URL}/login/ended`);
  });

  it("gives a session no access to MCP, and checks where a change comes from", async () => {
    await browser.logIn();
    const foreign = { ...browser.headers, "Sec-Fetch-Site": "cross-site" };

    expect((await call("POST", "/mcp", { jsonrpc: "2.0", id: 1, method: "ping" })).status).to.equal(401);
    expect((await call("PUT", "/api/jobs/a", {}, foreign)).status).to.equal(403);
  });
});
