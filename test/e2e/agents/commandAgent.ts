import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
export const bearer = { Authorization: `Bearer ${TOKEN}` };

export interface Run {
  runId: string;
  sessionKey: string;
  status: string;
  attempts: number;
  reply: string | null;
  error: { code: string } | null;
  startedAt: string;
  endedAt: string;
  deliveries: { channel: string; to: string | null; state: string; reason: string | null }[];
}

/** A service whose agent is a program that reads the prompt from standard input; it runs until the end of each test. */
export class CommandAgent {
  app!: TestApp;
  worker!: TestWorker;
  /** The working directory of the program. */
  dir!: string;

  constructor() {
    afterEach(async () => {
      await this.worker.close();
      await this.app.close();
      rmSync(this.dir, { recursive: true });
    });
  }

  async start(
    program: string,
    { more = "", agents = "", runner = "", url = false, concurrency = 10 } = {},
  ): Promise<void> {
    this.dir = mkdtempSync(join(tmpdir(), "signalbox-agent-"));
    const file = join(this.dir, "agent.sh");
    writeFileSync(file, `#!/bin/sh\ncd ${this.dir}\n${program}\n`);
    chmodSync(file, 0o755);
    this.app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}" },
        agents: { defaults: { runner: "command", ${more} }, runners: { command: { command: ["${file}"], ${runner} } }, ${agents} },
        channels: { log: {} },
        worker: { concurrency: ${concurrency} },
      }`,
    });
    this.worker = await startWorker(this.app, url ? { SIGNALBOX_URL: this.app.url } : {});
  }

  /** Sends a message to the agent. @returns the runId */
  async accept(body: object): Promise<string> {
    const message = { deliver: false, wakeMode: "next-heartbeat", ...body };
    const { status, body: answer } = await this.app.call("POST", "/hooks/agent", message, bearer);
    expect(status).to.equal(202);
    return answer.runId;
  }

  async read(runId: string): Promise<Run> {
    return (await this.app.call("GET", `/api/runs/${runId}`)).body;
  }

  /** Waits for the end of a run. */
  ended(runId: string): Promise<Run> {
    return eventually(async () => {
      const run = await this.read(runId);
      return ["completed", "failed", "dropped"].includes(run.status) && run;
    }, "the run to end");
  }
}
