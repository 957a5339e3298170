import { expect } from "chai";
import { API_TOKEN, ChannelPage, cardOf, READ_ONLY, sendTo, TOWN } from "../../dashboard/channelPage.ts";
import { expectAccessible } from "../../support/axe.ts";
import { eventually, untilPasses } from "../../support/eventually.ts";
import { answers } from "../../support/servers/channelServer.ts";

const GONE = answers(403, { id: "api.context.permissions.app_error", message: "", status_code: 403 });
const PHONE = { width: 390, height: 780 };

describe("actions of the dashboard's page of channels", () => {
  const channels = new ChannelPage();

  it("sends a test message by keyboard to the recipient of the main session, and shows why another one failed", async () => {
    await channels.app.stores.sessions.setReplyTarget({ channel: "mattermost", to: TOWN });
    const page = await channels.open();
    await page.getByText("Replies of the main session go to mattermost").waitFor();
    await sendTo(page, "mattermost").focus();
    await page.keyboard.press("Enter");
    await eventually(
      () => page.evaluate("document.activeElement.tagName === 'INPUT'"),
      "the recipient to have the focus",
    );
    await page.keyboard.press("Enter");

    const status = cardOf(page, "mattermost").getByRole("status");
    await status.getByText("The test was delivered.").waitFor();
    expect(channels.textsSent()).to.deep.equal([[TOWN, "This is a test message of Signalbox."]]);
    channels.answer = GONE;
    await page.keyboard.press("Enter");
    await status.getByText("The test failed: Mattermost answered 403").waitFor();
  });

  it("uses a recipient for replies, and asks for one that is missing", async () => {
    const page = await channels.open();
    await sendTo(page, "mattermost").click();
    await page.getByRole("button", { name: "Use for replies" }).click();
    await untilPasses(async () =>
      expect(await page.evaluate("document.querySelector('input:invalid').validity.valueMissing")).to.equal(true),
    );
    await page.getByLabel("Recipient").fill(` ${TOWN} `);
    await page.getByRole("button", { name: "Use for replies" }).click();

    await page.getByText("Replies of the main session go to mattermost").waitFor();
    await page.getByText(TOWN, { exact: true }).waitFor();
    expect(await channels.app.stores.sessions.replyTarget()).to.deep.equal({ channel: "mattermost", to: TOWN });
    expect(channels.server.requests).to.deep.equal([]);
  });

  it("works on a phone: large buttons, no horizontal scrolling and no serious axe-core findings", async () => {
    const page = await channels.open(API_TOKEN, { viewport: PHONE, colorScheme: "light", hasTouch: true });
    await sendTo(page, "log").tap();
    await page.getByLabel("Recipient").waitFor();

    await untilPasses(async () => expect(await page.getByLabel("Recipient").inputValue()).to.equal("ops"));
    for (const name of ["Send", "Use for replies", "Send test message to log"]) {
      const button = page.getByRole("button", { name, exact: true });
      await untilPasses(async () => expect((await button.boundingBox())?.height, name).to.be.at.least(44));
    }
    await expectAccessible(page);
    await page.getByRole("button", { name: "Send", exact: true }).tap();
    await cardOf(page, "log").getByRole("status").getByText("The test was delivered.").waitFor();
  });

  it("hides the actions from a token that only reads", async () => {
    const page = await channels.open(READ_ONLY);

    await untilPasses(async () => expect(await cardOf(page, "log").getByRole("button").count()).to.equal(0));
  });
});
