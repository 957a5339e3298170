import { expect } from "chai";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";
import { answers, type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const [API_TOKEN, READ_ONLY] = ["an-api-token-of-length", "a-read-only-token-of-length"];
const TOWN = "town".padEnd(26, "0");
const POST = answers(201, { id: "p".repeat(26), channel_id: TOWN });
const REFUSAL = answers(401, { id: "api.context.session_expired.app_error", message: "", status_code: 401 });

describe("actions of the dashboard's page of channels", () => {
  const contexts = new BrowserContexts();
  let server: ChannelServer;
  let app: TestApp;
  let worker: TestWorker;
  let answer = POST;
  before(async () => {
    server = await startChannelServer((response, request) => answer(response, request));
  });
  after(() => server.close());
  beforeEach(async () => {
    answer = POST;
    server.script();
    app = await startApp({
      apiToken: API_TOKEN,
      readOnlyToken: READ_ONLY,
      config: `{
        channels: { log: {}, mattermost: { apiUrl: "${server.url}", botToken: "s3cret" } },
        session: { main: { channel: "log", to: "ops" } },
      }`,
    });
    worker = await startWorker(app);
  });
  afterEach(async () => {
    await contexts.closeAll();
    await worker.close();
    await app.close();
  });
  const open = async (token = API_TOKEN, options = {}) => {
    const page = await contexts.open(`${app.url}/channels`, options);
    await page.getByLabel("Token").fill(token);
    await page.keyboard.press("Enter");
    await cardOf(page, "mattermost").waitFor();
    return page;
  };
  const cardOf = (page: Page, channel: string) => page.getByRole("listitem", { name: channel, exact: true });
  const sendTo = (page: Page, channel: string) =>
    page.getByRole("button", { name: `Send test message to ${channel}`, exact: true });
  const textsSent = () => server.requests.map(({ body }) => [body.channel_id, body.message]);

  it("sends a test message by mouse, shows its result and links to its delivery", async () => {
    const page = await open();
    await sendTo(page, "mattermost").click();
    await page.getByLabel("Recipient").fill(TOWN);
    await page.getByLabel("Text (optional)").fill("All *well*?");
    await page.getByRole("button", { name: "Send", exact: true }).click();

    await cardOf(page, "mattermost").getByRole("status").getByText("The test was delivered.").waitFor();
    expect(textsSent()).to.deep.equal([[TOWN, "All *well*?"]]);
    await page.getByRole("link", { name: "Show the delivery" }).click();
    await page.getByRole("heading", { level: 1, name: "Deliveries" }).waitFor();
    const row = page.getByRole("row").filter({ hasText: "test" });
    await row.waitFor();
    expect(await row.textContent()).to.match(/mattermost[\s\S]*town0+[\s\S]*Sent/);
    expect(await row.getByRole("link", { name: "mattermost" }).getAttribute("href")).to.equal("/channels");
  });

  it("resumes a stopped channel, whose waiting message is then sent", async () => {
    answer = REFUSAL;
    const sent = await app.call(
      "POST",
      "/api/channels/mattermost/test",
      { to: TOWN },
      { Authorization: `Bearer ${API_TOKEN}` },
    );
    const page = await open();
    await page.getByRole("link", { name: "Channels 1 stopped" }).waitFor();
    answer = POST;
    await page.getByRole("button", { name: "Resume mattermost" }).click();

    await page.getByRole("link", { name: "Channels", exact: true }).waitFor();
    expect(await page.getByRole("button", { name: "Resume mattermost" }).count()).to.equal(0);
    expect((await app.stores.deliveries.find(sent.body.deliveryId)).state).to.equal("sent");
  });
});
