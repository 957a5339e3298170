import { expect } from "chai";
import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../../support/app.ts";
import { findings } from "../../support/axe.ts";
import { BrowserContexts } from "../../support/browser.ts";
import { eventually } from "../../support/eventually.ts";
import { answers, type ChannelServer, startChannelServer } from "../../support/servers/channelServer.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const [API_TOKEN, READ_ONLY] = ["an-api-token-of-length", "a-read-only-token-of-length"];
const TOWN = "town".padEnd(26, "0");
const POST = answers(201, { id: "p".repeat(26), channel_id: TOWN });
const GONE = answers(403, { id: "api.context.permissions.app_error", message: "", status_code: 403 });
const PHONE = { width: 390, height: 780 };

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

  it("sends a test message by keyboard to the recipient of the main session, and shows why another one failed", async () => {
    await app.stores.sessions.setReplyTarget({ channel: "mattermost", to: TOWN });
    const page = await open();
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
    expect(textsSent()).to.deep.equal([[TOWN, "This is a test message of Signalbox."]]);
    answer = GONE;
    await page.keyboard.press("Enter");
    await status.getByText("The test failed: Mattermost answered 403").waitFor();
  });

  it("uses a recipient for replies, and asks for one that is missing", async () => {
    const page = await open();
    await sendTo(page, "mattermost").click();
    await page.getByRole("button", { name: "Use for replies" }).click();
    expect(await page.evaluate("document.querySelector('input:invalid').validity.valueMissing")).to.equal(true);
    await page.getByLabel("Recipient").fill(` ${TOWN} `);
    await page.getByRole("button", { name: "Use for replies" }).click();

    await page.getByText("Replies of the main session go to mattermost").waitFor();
    await page.getByText(TOWN, { exact: true }).waitFor();
    expect(await app.stores.sessions.replyTarget()).to.deep.equal({ channel: "mattermost", to: TOWN });
    expect(server.requests).to.deep.equal([]);
  });

  it("works on a phone: large buttons, no horizontal scrolling and no serious axe-core findings", async () => {
    const page = await open(API_TOKEN, { viewport: PHONE, colorScheme: "light", hasTouch: true });
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
    const page = await open(READ_ONLY);

    expect(await cardOf(page, "log").getByRole("button").count()).to.equal(0);
  });
});
