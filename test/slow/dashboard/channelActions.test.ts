import { expect } from "chai";
import { API_TOKEN, ChannelPage, cardOf, READ_ONLY, sendTo, TOWN } from "../../dashboard/channelPage.ts";
import { findings } from "../../support/axe.ts";
import { eventually } from "../../support/eventually.ts";
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
    expect(await page.evaluate("document.querySelector('input:invalid').validity.valueMissing")).to.equal(true);
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

    expect(await page.getByLabel("Recipient").inputValue()).to.equal("ops");
    for (const name of ["Send", "Use for replies", "Send test message to log"]) {
      const box = await page.getByRole("button", { name, exact: true }).boundingBox();
      expect(box?.height, name).to.be.at.least(44);
    }
    const [width, room] = await page.evaluate<number[]>(
      "[document.documentElement.scrollWidth, document.documentElement.clientWidth]",
    );
    expect(width).to.equal(room);
    expect(await findings(page)).to.deep.equal([]);
    await page.emulateMedia({ colorScheme: "dark" });
    expect(await findings(page, ["color-contrast"])).to.deep.equal([]);
    await page.getByRole("button", { name: "Send", exact: true }).tap();
    await cardOf(page, "log").getByRole("status").getByText("The test was delivered.").waitFor();
  });

  it("hides the actions from a token that only reads", async () => {
    const page = await channels.open(READ_ONLY);

    expect(await cardOf(page, "log").getByRole("button").count()).to.equal(0);
  });
});
