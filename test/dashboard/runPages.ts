import type { Page } from "playwright-core";
import { startApp, type TestApp } from "../support/app.ts";
import { BrowserContexts } from "../support/browser.ts";
import { answers, type ChannelServer, startChannelServer } from "../support/servers/channelServer.ts";
import { type ModelServer, startModelServer } from "../support/servers/modelServer.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const TOKEN = "a-hook-token-of-length";

/** A service with a model server and Telegram, and its pages, for each test. */
export class RunPages {
  model!: ModelServer;
  telegram!: ChannelServer;
  app!: TestApp;
  readonly #contexts = new BrowserContexts();
  #worker!: TestWorker;

  constructor() {
    beforeEach(() => this.#start());
    afterEach(async () => {
      await this.#contexts.closeAll();
      await this.#worker.close();
      await this.app.close();
      await this.telegram.close();
      await this.model.close();
    });
  }

  async #start(): Promise<void> {
    this.model = await startModelServer();
    this.telegram = await startChannelServer(answers(200, { ok: true, result: { message_id: 1, chat: { id: 7 } } }));
    this.app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}",
          mappings: [{ match: { path: "ci" }, name: "CI", sessionKey: "hook:ci", messageTemplate: "Build {{build}} failed",
            instructions: "Say what broke.", wakeMode: "next-heartbeat", channel: "telegram", to: "7" }] },
        agents: {
          defaults: { runner: "openai", model: "small", heartbeat: { every: "1d" } },
          runners: { openai: { baseUrl: "${this.model.url}", apiKey: "sk-test" } },
        },
        channels: { telegram: { apiUrl: "${this.telegram.url}", botToken: "1:t" } },
      }`,
    });
    this.#worker = await startWorker(this.app);
  }

  /** Opens the page at a path, and waits for its live events. */
  open(path: string): Promise<Page> {
    return this.#contexts.openLive(this.app.url + path);
  }

  /** Calls a hook. @returns the runId */
  async ring(name: string, body: object): Promise<string> {
    const bearer = { Authorization: `Bearer ${TOKEN}` };
    const call = { wakeMode: "next-heartbeat", ...body };
    return (await this.app.call("POST", `/hooks/${name}`, call, bearer)).body.runId;
  }
}

/** Returns the place of a run's page that shows its state. */
export const outcome = (page: Page, state: string) =>
  page.getByRole("region", { name: "Result" }).getByText(state).first();
