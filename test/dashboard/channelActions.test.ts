import { expect } from "chai";
import { untilPasses } from "../support/eventually.ts";
import { answers } from "../support/servers/channelServer.ts";
import { API_TOKEN, ChannelPage, cardOf, POST, sendTo, TOWN } from "./channelPage.ts";

const REFUSAL = answers(401, { id: "api.context.session_expired.app_error", message: "", status_code: 401 });

describe("actions of the dashboard's page of channels", () => {
  const channels = new ChannelPage();

  it("sends a test message by mouse, shows its result and links to its delivery", async () => {
    const page = await channels.open();
    await sendTo(page, "mattermost").click();
    await page.getByLabel("Recipient").fill(TOWN);
    await page.getByLabel("Text (optional)").fill("All *well*?");
    await page.getByRole("button", { name: "Send", exact: true }).click();

    await cardOf(page, "mattermost").getByRole("status").getByText("The test was delivered.").waitFor();
    expect(channels.textsSent()).to.deep.equal([[TOWN, "All *well*?"]]);
    await page.getByRole("link", { name: "Show the delivery" }).click();
    await page.getByRole("heading", { level: 1, name: "Deliveries" }).waitFor();
    const row = page.getByRole("row").filter({ hasText: "test" });
    await row.waitFor();
    await untilPasses(async () => expect(await row.textContent()).to.match(/mattermost[\s\S]*town0+[\s\S]*Sent/));
    await untilPasses(async () =>
      expect(await row.getByRole("link", { name: "mattermost" }).getAttribute("href")).to.equal("/channels"),
    );
  });

  it("resumes a stopped channel, whose waiting message is then sent", async () => {
    channels.answer = REFUSAL;
    const sent = await channels.app.call(
      "POST",
      "/api/channels/mattermost/test",
      { to: TOWN },
      { Authorization: `Bearer ${API_TOKEN}` },
    );
    const page = await channels.open();
    await page.getByRole("link", { name: "Channels 1 stopped" }).waitFor();
    channels.answer = POST;
    await page.getByRole("button", { name: "Resume mattermost" }).click();

    await page.getByRole("link", { name: "Channels", exact: true }).waitFor();
    await untilPasses(async () =>
      expect(await page.getByRole("button", { name: "Resume mattermost" }).count()).to.equal(0),
    );
    expect((await channels.app.stores.deliveries.find(sent.body.deliveryId)).state).to.equal("sent");
  });
});
