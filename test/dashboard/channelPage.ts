import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts, enterToken } from "../support/browser.ts";
import { answers, type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

export const API_TOKEN = "an-api-token-of-length";
export const READ_ONLY = "a-read-only-token-of-length";
export const TOWN = "town".padEnd(26, "0");
export const POST = answers(201, { id: "p".repeat(26), channel_id: TOWN });

/** A service with Mattermost, and its page of channels, for each test. */
export class ChannelPage {
  server!: ChannelServer;
  app!: TestApp;
  /** The answers of Mattermost. */
  answer = POST;
  readonly #contexts = new BrowserContexts();
  #worker!: TestWorker;

  constructor() {
    before(async () => {
      this.server = await startChannelServer((response, request) => this.answer(response, request));
    });
    after(() => this.server.close());
    beforeEach(() => this.#start());
    afterEach(async () => {
      await this.#contexts.closeAll();
      await this.#worker.close();
      await this.app.close();
    });
  }

  async #start(): Promise<void> {
    this.answer = POST;
    this.server.script();
    this.app = await startApp({
      apiToken: API_TOKEN,
      readOnlyToken: READ_ONLY,
      config: `{
        channels: { log: {}, mattermost: { apiUrl: "${this.server.url}", botToken: "s3cret" } },
        session: { main: { channel: "log", to: "ops" } },
      }`,
    });
    this.#worker = await startWorker(this.app);
  }

  async open(token = API_TOKEN, options = {}): Promise<Page> {
    const page = await this.#contexts.open(`${this.app.url}/channels`, options);
    await enterToken(page, token);
    await cardOf(page, "mattermost").waitFor();
    return page;
  }

  textsSent() {
    return this.server.requests.map(({ body }) => [body.channel_id, body.message]);
  }
}

export const cardOf = (page: Page, channel: string) => page.getByRole("listitem", { name: channel, exact: true });
export const sendTo = (page: Page, channel: string) =>
  page.getByRole("button", { name: `Send test message to ${channel}`, exact: true });
