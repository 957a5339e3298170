import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { CLIENT, type OidcProvider, startOidcProvider } from "../../support/oidcProvider.ts";
import { PersonBrowser, PUBLIC_URL } from "../../support/personBrowser.ts";

const TOKEN = "a-token-of-some-length";

describe("faults of a log-in with the company's account", () => {
  let provider: OidcProvider;
  let app: TestApp;
  let browser: PersonBrowser;
  beforeEach(async () => {
    provider = await startOidcProvider();
    const oidc = { issuer: provider.issuer, ...CLIENT, roles: [{ groups: ["sre"], scopes: ["admin"] }] };
    const server = { publicUrl: PUBLIC_URL, basePath: "/signalbox", apiToken: TOKEN, oidc };
    app = await startApp({ config: JSON.stringify({ server }) });
    browser = new PersonBrowser(app);
  });
  afterEach(async () => {
    await app.close();
    await provider.close();
  });
  const isLoggedIn = async () => (await app.call("GET", "/session", undefined, browser.headers)).body.access !== null;

  /** Expects a plain page that logs nobody in and leads nowhere by itself. */
  async function expectFault(
    { status, text, location }: Awaited<ReturnType<PersonBrowser["visit"]>>,
    code: number,
    words: string,
  ) {
    expect([status, location]).to.deep.equal([code, ""]);
    expect(text).to.include(words).and.not.include("http-equiv");
    expect(await isLoggedIn()).to.equal(false);
  }

  const FAULTS: readonly [title: string, change: Partial<OidcProvider>, status: number, words: string][] = [
    ["was denied", { error: "access_denied" }, 403, "was denied"],
    ["ends with another error", { error: "invalid_scope" }, 400, "refused the log-in"],
    ["ends while the provider is in trouble", { error: "temporarily_unavailable" }, 503, "cannot be reached"],
    ["comes from a clock five minutes ahead", { aheadSeconds: 300 }, 400, "clocks differ"],
    ["comes from a clock five minutes behind", { aheadSeconds: -300 }, 400, "clocks differ"],
    ["has an ID token that another key signed", { foreignKey: true }, 400, "could not be verified"],
  ];
  for (const [title, change, status, words] of FAULTS) {
    it(`shows a plain page when the log-in ${title}`, async () => {
      Object.assign(provider, change);

      await expectFault(await browser.logIn(), status, words);
    });
  }

  for (const padded of ["/.well-known/openid-configuration", "/jwks", "/token", "/userinfo"]) {
    it(`reads no more than a MiB of an answer of ${padded}`, async () => {
      Object.assign(provider, { padded, claims: { sub: "ann" }, userinfo: { groups: ["sre"] } });

      const failed = padded.startsWith("/.well-known") ? browser.visit(`${PUBLIC_URL}/login/oidc`) : browser.logIn();
      await expectFault(await failed, 503, "cannot be reached");

      expect(provider.requests).to.include(padded);
      provider.padded = null;
      app.clock.advance(3_000);
      await browser.logIn();
      expect(await isLoggedIn()).to.equal(true);
    });
  }

  for (const [title, claims, words] of [
    ["another issuer", { iss: "https://other.example" }, "another one"],
    ["another audience", { aud: "other" }, "could not be verified"],
    ["another nonce", { nonce: "other" }, "could not be verified"],
    ["an end in the past", { exp: 1 }, "clocks differ"],
  ] as const) {
    it(`refuses an ID token with ${title}`, async () => {
      provider.claims = { ...provider.claims, ...claims };

      await expectFault(await browser.logIn(), 400, words);
    });
  }

  for (const aheadSeconds of [60, -60]) {
    it(`tolerates a clock that is off by ${aheadSeconds} seconds`, async () => {
      provider.aheadSeconds = aheadSeconds;
      await browser.logIn();

      expect(await isLoggedIn()).to.equal(true);
    });
  }

  it("says that the provider is away, while tokens work, and logs in once it is back", async () => {
    provider.isAway = true;
    const { status, text, location } = await browser.visit(`${PUBLIC_URL}/login/oidc`);
    const byToken = await app.call("POST", "/session", { token: TOKEN });
    provider.isAway = false;
    app.clock.advance(3_000);
    const back = await browser.logIn();

    expect([status, location]).to.deep.equal([503, ""]);
    expect(text).to.include("cannot be reached").and.include("Tokens go on working");
    expect(byToken.status).to.equal(204);
    expect(back.text).to.include("Logged in");
  });

  it("says that the provider is away when its tokens cannot be fetched", async () => {
    const callback = await browser.begin();
    provider.isAway = true;

    await expectFault(await browser.visit(callback), 503, "cannot be reached");
  });

  it("refuses a provider whose discovery document names another issuer", async () => {
    provider.discovery = { issuer: "https://other.example" };

    await expectFault(await browser.visit(`${PUBLIC_URL}/login/oidc`), 400, "another one");
  });

  for (const [endpoint, path] of [
    ["authorization_endpoint", "/login/oidc"],
    ["end_session_endpoint", "/login/logout"],
  ] as const) {
    for (const value of [5, {}, "elsewhere", "javascript:alert(1)"]) {
      it(`refuses a provider whose discovery document has the ${endpoint} ${JSON.stringify(value)}`, async () => {
        provider.discovery = { [endpoint]: value };

        await expectFault(await browser.visit(PUBLIC_URL + path), 400, "could not be verified");
        expect(JSON.stringify(app.log)).to.include("a log-in with the company's account failed");
      });
    }
  }

  for (const key of ["scopes_supported", "token_endpoint_auth_methods_supported"]) {
    for (const value of [null, 5, {}, [null, 5]]) {
      it(`logs in where the provider has ${JSON.stringify(value)} in place of the list ${key}`, async () => {
        provider.discovery = { [key]: value };

        expect((await browser.logIn()).text).to.include("Logged in");
      });
    }
  }

  it("refuses a callback whose iss names another issuer", async () => {
    provider.discovery = { authorization_response_iss_parameter_supported: true };
    const callback = await browser.begin();

    await expectFault(await browser.visit(`${callback}&iss=https%3A%2F%2Fother.example`), 400, "could not be verified");
  });

  it("refuses a callback that is opened a second time, and keeps the session of the first", async () => {
    const callback = await browser.begin();
    await browser.visit(callback);
    const again = await browser.visit(callback);

    expect([again.status, again.setCookies]).to.deep.equal([400, []]);
    expect(again.text).to.include("began elsewhere");
    expect(await isLoggedIn()).to.equal(true);
  });

  it("refuses the callback of another browser, so that nobody is logged in as somebody else", async () => {
    const callback = await new PersonBrowser(app).begin();

    await expectFault(await browser.visit(callback), 400, "began elsewhere");
  });

  it("refuses the callback of another browser also with the cookie of an own log-in", async () => {
    const callback = await new PersonBrowser(app).begin();
    const state = new URL(callback).searchParams.get("state") as string;
    const [id] = JSON.parse(Buffer.from(state.slice(4).split(".")[0] as string, "base64url").toString());
    await browser.begin();
    const [own] = browser.cookies.values();
    browser.cookies.set(`signalbox_login_${id.slice(0, 2)}`, own as { value: string; path: string });

    await expectFault(await browser.visit(callback), 400, "began elsewhere");
    expect(provider.requests).to.not.include("/token");
  });

  for (const [title, change] of [
    ["no state", (url: URL) => url.searchParams.delete("state")],
    ["a state that nobody sealed", (url: URL) => url.searchParams.set("state", "sbl_W10.AAAA")],
    ["two states", (url: URL) => url.searchParams.append("state", url.searchParams.get("state") as string)],
  ] as const) {
    it(`refuses a callback with ${title}`, async () => {
      const url = new URL(await browser.begin());
      change(url);

      await expectFault(await browser.visit(url.href), 400, "has ended");
    });
  }

  it("refuses a callback more than ten minutes after the log-in began", async () => {
    const callback = await browser.begin();
    app.clock.advance(601_000);

    await expectFault(await browser.visit(callback), 400, "has ended");
  });

  it("logs in from two tabs at once, each to its own page", async () => {
    const [one, two] = [await browser.begin("/signalbox/runs"), await browser.begin("/signalbox/gates")];
    const second = await browser.visit(two);
    const first = await browser.visit(one);

    expect(first.text).to.include("url=https://jobs.example.com/signalbox/runs");
    expect(second.text).to.include("url=https://jobs.example.com/signalbox/gates");
  });

  it("does not use up a code for a request by HEAD", async () => {
    const callback = await browser.begin();
    const head = await browser.visit(callback, {}, "HEAD");
    const { text } = await browser.visit(callback);

    expect(head.status).to.not.equal(200);
    expect(text).to.include("Logged in");
  });

  it("logs no more than the beginning of an error that the provider chooses", async () => {
    provider.error = "e".repeat(10_000);
    await expectFault(await browser.logIn(), 400, "refused the log-in");
    const entry = app.log.find(({ fault }) => fault === "refused");

    expect(entry?.reason).to.have.length(300).and.include("OAUTH_AUTHORIZATION_RESPONSE_ERROR, eee");
  });

  it("logs no code, state, token or secret", async () => {
    const callback = await browser.begin();
    await browser.visit(callback);
    provider.foreignKey = true;
    await browser.logIn();
    const text = JSON.stringify(app.log);
    const { code, state } = Object.fromEntries(new URL(callback).searchParams);

    for (const secret of [code, state, CLIENT.clientSecret, "eyJ"]) expect(text).to.not.include(secret);
    expect(text).to.include("a log-in with the company's account failed");
  });
});
