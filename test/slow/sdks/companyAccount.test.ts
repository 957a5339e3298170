import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { expect } from "chai";
import Provider from "oidc-provider";
import type { Page } from "playwright-core";
import sinon from "sinon";
import { startApp, type TestApp } from "../../support/app.ts";
import { BrowserContexts, waitForAddress } from "../../support/browser.ts";
import { freePort } from "../../support/servers/servers.ts";
import { startTlsProxy } from "../../support/servers/tlsProxy.ts";

const CLIENT_ID = "signalbox";
const SECRET = "a-secret-of-the-client";
const TOKEN = "an-api-token-of-length";
const HOUR_MS = 3_600_000;
const GROUPS: Readonly<Record<string, readonly string[]>> = { ann: ["sre"], bob: ["staff"] };

/** Starts the provider on another host name than the service, so that the browser treats the two as different sites. */
async function startProvider(publicUrl: string): Promise<{ issuer: string; server: Server }> {
  const port = await freePort();
  const issuer = `http://localhost:${port}`;
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: CLIENT_ID,
        client_secret: SECRET,
        redirect_uris: [`${publicUrl}/login/callback`],
        post_logout_redirect_uris: [`${publicUrl}/login/ended`],
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"], profile: ["name"], groups: ["groups"] },
    findAccount: (_: unknown, accountId: string) => ({
      accountId,
      claims: () => ({
        sub: accountId,
        name: accountId.toUpperCase(),
        email: `${accountId}@example.com`,
        email_verified: true,
        groups: GROUPS[accountId] ?? [],
      }),
    }),
    cookies: { keys: ["a key of the test"] },
    pkce: { required: () => true },
  });
  const server = createServer(provider.callback());
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
  return { issuer, server };
}

for (const behindTls of [false, true])
  describe(`log-in at oidc-provider in a real browser${behindTls ? " behind a TLS proxy" : ""}`, () => {
    const contexts = new BrowserContexts();
    let app: TestApp;
    let proxy: Server | undefined;
    let publicUrl: string;
    let provider: Awaited<ReturnType<typeof startProvider>>;
    // the provider warns about each of its defaults
    before(() => void ["warn", "info"].map((name) => sinon.stub(console, name as "warn")));
    after(() => sinon.restore());
    beforeEach(async () => {
      const port = await freePort();
      proxy = behindTls ? await startTlsProxy(port) : undefined;
      const address = proxy?.address() as AddressInfo | undefined;
      publicUrl = `${address ? `https://127.0.0.1:${address.port}` : `http://127.0.0.1:${port}`}/signalbox`;
      provider = await startProvider(publicUrl);
      const roles = [{ groups: ["sre"], scopes: ["admin"] }];
      const oidc = { issuer: provider.issuer, clientId: CLIENT_ID, clientSecret: SECRET, roles };
      const server = { basePath: "/signalbox", publicUrl, apiToken: TOKEN, trustProxy: behindTls ? 1 : 0, oidc };
      app = await startApp({ port, config: JSON.stringify({ server }) });
      const bearer = { Authorization: `Bearer ${TOKEN}` };
      for (const jobId of ["nightly", "weekly"])
        await app.call("PUT", `/api/jobs/${jobId}`, { name: `Job ${jobId}` }, bearer);
    });
    afterEach(async () => {
      await contexts.closeAll();
      await app.close();
      for (const server of [provider.server, ...(proxy ? [proxy] : [])]) {
        server.closeAllConnections();
        await new Promise((resolve) => server.close(resolve));
      }
    });
    const open = (path: string) => contexts.open(publicUrl + path, { ignoreHTTPSErrors: true });

    const begin = (page: Page) => page.getByRole("link", { name: /^Log in with localhost/ }).click();
    /** Enters a name at the provider, which asks for the consent once a person. */
    async function enter(page: Page, name: string, { consents = true } = {}): Promise<void> {
      await page.locator("input[name=login]").fill(name);
      await page.locator("input[name=password]").fill("any");
      await page.locator("button[type=submit]").click();
      if (consents) await page.getByRole("button", { name: "Continue" }).click();
    }
    const shows = (page: Page, name: string) => page.getByRole("heading", { name: `Job ${name}` }).waitFor();

    it("logs in for the first time, keeps the deep link, and logs out at the provider too", async () => {
      const page = await open("/jobs/nightly");
      await begin(page);
      await enter(page, "ann");
      await shows(page, "nightly");
      await waitForAddress(page, "pathname", "/signalbox/jobs/nightly");
      await page.getByRole("banner").getByText("ANN", { exact: true }).waitFor();
      await page.getByRole("button", { name: "Log out" }).click();
      await page.getByRole("button", { name: /Yes, sign me out/ }).click();
      await page.getByRole("heading", { name: "You are logged out" }).waitFor();
      await waitForAddress(page, "pathname", "/signalbox/login/ended");
      await page.getByRole("link", { name: "Go to the log-in page" }).click();
      await begin(page);

      await page.locator("input[name=login]").waitFor(); // the provider asks again
      const { body } = await app.call("GET", "/api/audit", undefined, { Authorization: `Bearer ${TOKEN}` });
      const acts = body.entries.map(({ actor, action }: { actor: string; action: string }) => `${actor} ${action}`);
      expect(acts.slice(0, 2)).to.deep.equal(["oidc:ann@example.com logout", "oidc:ann@example.com login"]);
    });

    it("logs in again in the middle of work without a password, while the provider knows the person", async () => {
      const page = await open("/jobs/nightly");
      await begin(page);
      await enter(page, "ann");
      await shows(page, "nightly");
      await page.context().clearCookies({ name: "signalbox_session" });
      await page.reload();
      await begin(page);

      await shows(page, "nightly");
    });

    it("leads to the log-in and back when the session ends while a page is open", async () => {
      const page = await open("/jobs/nightly");
      await begin(page);
      await enter(page, "ann");
      await shows(page, "nightly");
      app.clock.advance(13 * HOUR_MS);
      await page.getByLabel("Token", { exact: true }).waitFor();
      app.clock.advance(-13 * HOUR_MS); // the clock of the provider has stayed
      await begin(page);

      await shows(page, "nightly");
      await waitForAddress(page, "pathname", "/signalbox/jobs/nightly");
    });

    it("shows a plain page while the provider is away or the clock is wrong, and logs in afterwards", async () => {
      const { server } = provider;
      const { port } = server.address() as AddressInfo;
      await new Promise((resolve) => server.close(resolve));
      const page = await open("/jobs/nightly");
      await begin(page);
      await page.getByRole("heading", { name: "The log-in provider cannot be reached" }).waitFor();
      await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
      app.clock.advance(3_000);
      await page.reload();
      await page.locator("input[name=login]").waitFor();
      app.clock.advance(5 * 60_000);
      await enter(page, "ann");
      await page.getByRole("heading", { name: "The clocks differ too much" }).waitFor();
      app.clock.advance(-5 * 60_000);
      await page.getByRole("link", { name: "Go to the log-in page" }).click();
      await begin(page);

      await page.getByRole("banner").getByText("ANN", { exact: true }).waitFor();
    });

    it("logs in from two tabs at once, each to its own page", async () => {
      const first = await open("/jobs/nightly");
      const second = await first.context().newPage();
      await second.goto(`${publicUrl}/jobs/weekly`);
      await begin(first);
      await first.locator("input[name=login]").waitFor();
      await begin(second);
      await enter(second, "ann");
      await shows(second, "weekly");
      await enter(first, "ann", { consents: false });

      await shows(first, "nightly");
    });

    it("refuses a person without a role, and a log-in that the person cancels", async () => {
      const page = await open("/");
      await begin(page);
      await page.getByRole("link", { name: /Cancel/ }).click();
      await page.getByRole("heading", { name: "The log-in was denied" }).waitFor();
      await page.getByRole("link", { name: "Go to the log-in page" }).click();
      await begin(page);
      await enter(page, "bob");

      await page.getByRole("heading", { name: "You may not use this service" }).waitFor();
      await page.getByText("staff", { exact: true }).waitFor();
    });
  });
