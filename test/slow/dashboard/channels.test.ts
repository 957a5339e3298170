import { expect } from "chai";
import { useDashboard } from "../../dashboard/useDashboard.ts";
import { untilPasses } from "../../support/eventually.ts";

const ACCOUNT = "ada@example.org";

describe("dashboard page of channels", () => {
  const { app, openLive } = useDashboard({
    config: `{
        hooks: { enabled: true, token: "a-hook-token-of-length", presets: ["gmail"], gmail: { account: "${ACCOUNT}" } },
        channels: { log: {} },
        session: { main: { channel: "log", to: "ops" } },
      }`,
  });

  it("shows the state of the Gmail listener and updates it", async () => {
    const { gmailMailboxes } = app.stores;
    const page = await openLive("/channels");
    await page.getByText("The mailbox needs attention").waitFor();
    await page.locator("p.fault").getByText(`No process has listened to ${ACCOUNT} yet`).waitFor();

    await gmailMailboxes.acquire(ACCOUNT, { token: "t", holder: "mailhost:7" }, 60_000);
    const now = app.clock.now();
    await gmailMailboxes.update(ACCOUNT, "t", { cursor: "1", listedAt: now, lastMailAt: now });

    await page.getByText("Each new email starts a run").waitFor();
    await page.getByText("mailhost:7", { exact: true }).waitFor();
    await untilPasses(async () => expect(await page.getByText("The mailbox needs attention").count()).to.equal(0));
  });

  it("updates the main session's reply target, whoever sets it", async () => {
    const page = await openLive("/channels");
    await page.getByText("ops", { exact: true }).waitFor();

    await app.stores.sessions.setReplyTarget({ channel: "log", to: "the night watch" });

    await page.getByText("the night watch").waitFor();
  });
});
