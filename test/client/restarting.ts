import { randomUUID } from "node:crypto";
import { startApp, type TestApp } from "../support/app.ts";
import { freePort, mongoUri } from "../support/servers/servers.ts";

/** The real API, which can be restarted at the same address with the same data. */
export class RestartingApp {
  readonly url: string;
  readonly #options: { port: number; mongo: string; prefix: string };
  #app: Promise<TestApp>;

  private constructor(options: { port: number; mongo: string; prefix: string }, app: TestApp) {
    this.url = app.url;
    this.#options = options;
    this.#app = Promise.resolve(app);
  }

  static async start(): Promise<RestartingApp> {
    const name = `test-${randomUUID()}`;
    const options = { port: await freePort(), mongo: await mongoUri(name), prefix: name };
    return new RestartingApp(options, await startApp(options));
  }

  get app(): Promise<TestApp> {
    return this.#app;
  }

  /** Resolves once the API is ready again. */
  async restart(): Promise<void> {
    const stopped = this.#app.then((app) => app.close());
    this.#app = stopped.then(() => startApp(this.#options));
    await this.#app;
  }

  async close(): Promise<void> {
    await (await this.#app).close();
  }
}
