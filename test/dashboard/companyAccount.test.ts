import { expect } from "chai";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts, enterToken, waitForAddress } from "../support/browser.ts";
import { CLIENT, type OidcProvider, startOidcProvider } from "../support/oidcProvider.ts";
import { freePort } from "../support/servers/servers.ts";

const TOKEN = "an-api-token-of-length";

describe("dashboard login with the company's account", () => {
  const contexts = new BrowserContexts();
  let provider: OidcProvider;
  let app: TestApp;
  beforeEach(async () => {
    provider = await startOidcProvider();
    const port = await freePort();
    const oidc = { issuer: provider.issuer, ...CLIENT, roles: [{ groups: ["sre"], scopes: ["admin"] }] };
    const server = { basePath: "/signalbox", publicUrl: `http://127.0.0.1:${port}/signalbox`, apiToken: TOKEN, oidc };
    app = await startApp({ port, config: JSON.stringify({ server }) });
    await app.call("PUT", "/api/jobs/nightly", { name: "Nightly backup" }, { Authorization: `Bearer ${TOKEN}` });
  });
  afterEach(async () => {
    await contexts.closeAll();
    await app.close();
    await provider.close();
  });
  const logIn = (page: Page) =>
    page.getByRole("link", { name: `Log in with ${new URL(provider.issuer).host}` }).click();
  const isNightly = (page: Page) => page.getByRole("heading", { name: "Nightly backup" }).waitFor();

  it("opens the requested page at once after the log-in, and ends with the log-out on a page that stays", async () => {
    const page = await contexts.open(`${app.url}/jobs/nightly`);
    await logIn(page);
    await isNightly(page);
    await waitForAddress(page, "pathname", "/signalbox/jobs/nightly");
    await page.getByRole("banner").getByText("Ann", { exact: true }).waitFor();
    const cookies = await page.context().cookies();
    await page.getByRole("button", { name: "Log out" }).click();
    await page.getByRole("heading", { name: "You are logged out" }).waitFor();
    await waitForAddress(page, "pathname", "/signalbox/login/ended");
    await page.getByRole("link", { name: "Go to the log-in page" }).click();
    await page.getByLabel("Token", { exact: true }).waitFor();

    expect(cookies.map(({ name, httpOnly, sameSite }) => [name, httpOnly, sameSite])).to.have.deep.members([
      ["signalbox_session", true, "Strict"],
      ["signalbox_login_hint", true, "Strict"],
    ]);
    expect(provider.requests).to.include("/end");
  });

  it("asks for a log-in when the session ends in the middle of work, and returns to the page", async () => {
    const page = await contexts.open(`${app.url}/jobs/nightly`);
    await logIn(page);
    await isNightly(page);
    app.clock.advance(13 * 3_600_000);
    provider.aheadSeconds = 13 * 3_600;
    await page.reload();
    await logIn(page);

    await isNightly(page);
    await waitForAddress(page, "pathname", "/signalbox/jobs/nightly");
  });

  it("shows plain pages for a denied log-in and for a person without a role, while tokens work", async () => {
    provider.error = "access_denied";
    const page = await contexts.open(app.url);
    await logIn(page);
    await page.getByRole("heading", { name: "The log-in was denied" }).waitFor();
    provider.error = null;
    provider.claims = { ...provider.claims, groups: ["staff"] };
    await page.getByRole("link", { name: "Go to the log-in page" }).click();
    await logIn(page);
    await page.getByText("staff", { exact: true }).waitFor();
    await page.getByRole("link", { name: "Go to the log-in page" }).click();
    await enterToken(page, TOKEN);

    await page.getByRole("link", { name: "Nightly backup" }).waitFor();
  });
});
