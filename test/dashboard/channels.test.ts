import { expect } from "chai";
import { startApp, type TestApp } from "../support/app.ts";
import { Readers } from "../support/browser.ts";

const ACCOUNT = "ada@example.org";

describe("the dashboard's page of channels", function () {
  this.timeout(60_000);
  const readers = new Readers();
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
    await readers.leave();
    await app.close();
  });

  it("shows how a mailbox is listened to, and changes with it", async () => {
    const { gmailMailboxes } = app.stores;
    const page = await readers.openLive(`${app.url}/channels`);
    await page.getByText("Something is wrong").waitFor();
    await page.locator("p").getByText(`Nobody has listened to ${ACCOUNT} yet`).waitFor();

    await gmailMailboxes.acquire(ACCOUNT, { token: "t", holder: "mailhost:7" }, 60_000);
    const now = app.clock.now();
    await gmailMailboxes.update(ACCOUNT, "t", { cursor: "1", listedAt: now, lastMailAt: now });

    await page.getByText("New mails become runs").waitFor();
    await page.getByText("mailhost:7", { exact: true }).waitFor();
    expect(await page.getByText("Something is wrong").count()).to.equal(0);
  });

  it("shows another route of the main session, whoever has set it", async () => {
    const page = await readers.openLive(`${app.url}/channels`);
    await page.getByText("ops", { exact: true }).waitFor();

    await app.stores.sessions.setRoute({ channel: "log", to: "the night watch" });

    await page.getByText("the night watch").waitFor();
  });
});
