import { expect } from "chai";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import { FAST_TIMINGS } from "../../support/timings.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
export const bearer = { Authorization: `Bearer ${TOKEN}` };
/** Each turn costs 3 dollars and 15 tokens. */
const REPLY = JSON.stringify({ result: "Done.", usage: { input_tokens: 10, output_tokens: 5 }, total_cost_usd: 3 });
/** Nobody looks for lost runs, so that a test sees what a transition alone does. */
const NO_SWEEP = { ...FAST_TIMINGS, sweep: { ...FAST_TIMINGS.sweep, everyMs: 3_600_000 } };

/** A service with budgets, whose agent is a program that reports what a turn costs; it runs until the end of each test. */
export class BudgetFixture {
  app!: TestApp;
  workers: TestWorker[] = [];

  constructor() {
    afterEach(async () => {
      await this.stop();
      await this.app.close();
    });
  }

  async start(budgets: object[], { notify = [] as object[], sweeps = true, count = 1 } = {}): Promise<void> {
    this.app = await startApp({
      config: JSON.stringify({
        hooks: {
          enabled: true,
          token: TOKEN,
          mappings: [{ match: { path: "mapped" }, deliver: false, wakeMode: "next-heartbeat" }],
        },
        agents: {
          defaults: { runner: "command", heartbeat: { every: "off" } },
          runners: { command: { command: ["printf", "%s", REPLY], output: "json" } },
          list: { reviewer: {} },
          budgets,
        },
        channels: { log: {} },
        notify,
      }),
    });
    for (let i = 0; i < count; i++)
      this.workers.push(await startWorker(this.app, {}, sweeps ? FAST_TIMINGS : NO_SWEEP));
  }

  async stop(): Promise<void> {
    await Promise.all(this.workers.map((worker) => worker.close()));
    this.workers = [];
  }

  async send(body: object = {}): Promise<string> {
    const message = { message: "hi", deliver: false, wakeMode: "next-heartbeat", ...body };
    const { status, body: answer } = await this.app.call("POST", "/hooks/agent", message, bearer);
    expect(status, JSON.stringify(answer)).to.equal(202);
    return answer.runId;
  }

  async read(runId: string) {
    return (await this.app.call("GET", `/api/runs/${runId}`)).body;
  }

  reached(runId: string, ...statuses: string[]) {
    return eventually(
      async () => {
        const run = await this.read(runId);
        return statuses.includes(run.status) && run;
      },
      `the run to be ${statuses.join(" or ")}`,
    );
  }

  ended(runId: string) {
    return this.reached(runId, "completed", "failed");
  }

  /** Sends a run, and waits until what it spent is counted. */
  async spend(body: object = {}): Promise<string> {
    const runId = await this.send(body);
    await eventually(async () => (await this.app.stores.runs.find(runId)).finalized, "the run to be finalized");
    return runId;
  }

  async openGates() {
    return (await this.app.call("GET", "/api/gates?status=open")).body.gates;
  }

  answer({ jobId, key }: { jobId: string; key: string }, action: string) {
    return this.app.call("POST", `/api/jobs/${jobId}/gates/${key}/answer`, { action });
  }

  async budget() {
    return (await this.app.call("GET", "/api/budgets")).body.budgets[0];
  }
}
