import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";

const ACCOUNT = "ada@example.org";

describe("dashboard page of channels", function () {
  this.timeout(60_000);
  const contexts = new BrowserContexts();
  let app: TestApp;
  beforeEach(async () => {
    app = await startApp({
      config: `{
        hooks: { enabled: true, token: "a-hook-token-of-length", presets: ["gmail"], gmail: { account: "${ACCOUNT}" } },
        channels: { log: {} },
        session: { main: { channel: "log", to: "ops" } },
      }`,
    });
  });
  afterEach(async () => {
    await contexts.closeAll();
    await app.close();
  });

  it("shows the state of the Gmail listener and updates it", async () => {
    const { gmailMailboxes } = app.stores;
    const page = await contexts.openLive(`${app.url}/channels`);
    await page.getByText("Something is wrong").waitFor();
    await page.locator("p").getByText(`Nobody has listened to ${ACCOUNT} yet`).waitFor();

    await gmailMailboxes.acquire(ACCOUNT, { token: "t", holder: "mailhost:7" }, 60_000);
    const now = app.clock.now();
    await gmailMailboxes.update(ACCOUNT, "t", { cursor: "1", listedAt: now, lastMailAt: now });

    await page.getByText("New mails become runs").waitFor();
    await page.getByText("mailhost:7", { exact: true }).waitFor();
    expect(await page.getByText("Something is wrong").count()).to.equal(0);
  });

  it("updates the main session's reply target, whoever sets it", async () => {
    const page = await contexts.openLive(`${app.url}/channels`);
    await page.getByText("ops", { exact: true }).waitFor();

    await app.stores.sessions.setReplyTarget({ channel: "log", to: "the night watch" });

    await page.getByText("the night watch").waitFor();
  });
});
