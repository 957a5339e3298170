import { expect } from "chai";
import { type Answer, startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { type ModelServer, startModelServer } from "../../support/servers/modelServer.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
export const bearer = { Authorization: `Bearer ${TOKEN}` };

interface Run {
  readonly runId: string;
  readonly status: string;
  readonly attempts: number;
  readonly reply: string | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** An app and a worker whose agents ask a model server. The hooks of the suite close them after each test. */
export class ModelRunsFixture {
  model!: ModelServer;
  app!: TestApp;
  worker!: TestWorker;

  /** Declares the hooks of the current suite. A test calls `start`. */
  static use(): ModelRunsFixture {
    const fixture = new ModelRunsFixture();
    beforeEach(async () => {
      fixture.model = await startModelServer();
    });
    afterEach(async () => {
      await fixture.worker.close();
      await fixture.app.close();
      await fixture.model.close();
    });
    return fixture;
  }

  async start({ defaults = "", session = "" } = {}): Promise<void> {
    this.app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}" },
        agents: {
          defaults: { runner: "openai", ${/\bmodel:/.test(defaults) ? "" : `model: "small",`} heartbeat: { every: "1d" }, ${defaults} },
          runners: { openai: { baseUrl: "${this.model.url}", apiKey: "sk-test" } },
        },
        session: { ${session} },
        worker: { concurrency: 3 },
      }`,
    });
    this.worker = await startWorker(this.app);
  }

  /** Sends a request for an agent run. */
  post(body: object): Promise<Answer> {
    const request = { deliver: false, wakeMode: "next-heartbeat", ...body };
    return this.app.call("POST", "/hooks/agent", request, bearer);
  }

  /** Starts an agent run and returns its id. */
  async agent(body: object): Promise<string> {
    const { status, body: answer } = await this.post(body);
    expect(status).to.equal(202);
    return answer.runId;
  }

  async read(runId: string): Promise<Run> {
    return (await this.app.call("GET", `/api/runs/${runId}`)).body;
  }

  /** Waits for the end of a run. */
  ended(runId: string, withinMs?: number): Promise<Run> {
    return eventually(
      async () => {
        const run = await this.read(runId);
        return ["completed", "failed", "dropped"].includes(run.status) && run;
      },
      "the run to end",
      withinMs,
    );
  }
}
