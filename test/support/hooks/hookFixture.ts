import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { startApp, type TestApp } from "../app.ts";
import { eventually } from "../eventually.ts";
import { type Service, startProcess } from "../process.ts";
import { empty } from "../servers/databases.ts";
import { FAST_TIMINGS, FAULT_TIMINGS } from "../timings.ts";
import { startWorker, type TestWorker } from "../worker.ts";

const TOKEN = "a-hook-token-of-length";
const sourcesOf = (ids: readonly string[]) => ids.map((id) => `run ${id}`);
const headers = { Authorization: `Bearer ${TOKEN}`, "Content-Type": "application/json" };

/**
 * An app whose agent is a program that records its starts and ends, and that waits while it is blocked. Tests may start
 * further processes.
 */
export class HookFixture {
  readonly app: TestApp;
  readonly #dir: string;
  readonly #env: Record<string, string>;
  readonly #running: Service[] = [];
  readonly #localWorkers: TestWorker[] = [];
  /** The runs since the last reset, and those before it, which a worker may still be finalizing. */
  readonly #posted: string[] = [];
  readonly #earlier: string[] = [];

  private constructor(app: TestApp, dir: string, env: Record<string, string>) {
    this.app = app;
    this.#dir = dir;
    this.#env = env;
  }

  static async start(prefix: string, servers: { mongo?: string; redis?: string } = {}): Promise<HookFixture> {
    const dir = mkdtempSync(join(tmpdir(), "signalbox-faults-"));
    const agent = join(dir, "agent.sh");
    writeFileSync(
      agent,
      `#!/bin/sh\nread -r line\ncat > /dev/null\necho x >> ${dir}/begun\nwhile [ -e ${dir}/hold ]; do sleep 0.05; done\necho x >> ${dir}/ended\necho done\n`,
    );
    chmodSync(agent, 0o755);
    // With so little time to stop, a worker releases its pending runs at once.
    const config = `{
      redis: { prefix: "${prefix}" },
      hooks: { enabled: true, token: "${TOKEN}" },
      worker: { shutdownSeconds: 3 },
      agents: { defaults: { runner: "command", heartbeat: { every: "1d" } }, runners: { command: { command: ["${agent}"] } } },
    }`;
    const file = join(dir, "signalbox.json5");
    writeFileSync(file, config);
    const app = await startApp({ ...servers, config, prefix });
    return new HookFixture(app, dir, { MONGODB_URI: app.mongoUri, REDIS_URL: app.redisUrl, SIGNALBOX_CONFIG: file });
  }

  /** Starts a process that runs until it is stopped or the fixture is closed. */
  async startProcess(main: string, ...args: string[]): Promise<Service & { url: string }> {
    const service = startProcess(main, this.#env, args);
    this.#running.push(service);
    return { ...service, ...(await service.ready) };
  }

  /** Starts a worker in this process until the next reset. It soon takes over the queue entries of a dead worker. */
  async startLocalWorker(): Promise<void> {
    const { queueLockMs } = FAULT_TIMINGS;
    this.#localWorkers.push(await startWorker(this.app, {}, { ...FAST_TIMINGS, queueLockMs }));
  }

  /** Deletes all records. Processes keep running. */
  async reset(): Promise<void> {
    this.#earlier.push(...this.#posted.splice(0));
    await Promise.all(this.#localWorkers.splice(0).map((worker) => worker.close()));
    for (const name of ["begun", "ended", "hold"]) rmSync(join(this.#dir, name), { force: true });
    await empty(this.app.database);
  }

  async stopProcesses(): Promise<void> {
    await Promise.all(this.#running.splice(0).map((service) => service.stop("SIGKILL")));
  }

  async close(): Promise<void> {
    await this.stopProcesses();
    await this.reset();
    await this.app.close();
    rmSync(this.#dir, { recursive: true });
  }

  /** Makes the agent wait until unblockAgent() is called. */
  blockAgent(): void {
    writeFileSync(join(this.#dir, "hold"), "");
  }

  unblockAgent(): void {
    rmSync(join(this.#dir, "hold"));
  }

  /** Returns how often the agent has begun or ended. */
  count(what: "begun" | "ended"): number {
    const file = join(this.#dir, what);
    return existsSync(file) ? readFileSync(file, "utf8").split("\n").length - 1 : 0;
  }

  /** Posts an agent hook and returns the runId. */
  async post(body: object, url = this.app.url): Promise<string> {
    const message = { deliver: false, wakeMode: "next-heartbeat", ...body };
    const response = await fetch(`${url}/hooks/agent`, { method: "POST", headers, body: JSON.stringify(message) });
    expect(response.status).to.equal(202);
    const { runId } = (await response.json()) as { runId: string };
    this.#posted.push(runId);
    return runId;
  }

  async wake(text: string): Promise<void> {
    const response = await fetch(`${this.app.url}/hooks/wake`, {
      method: "POST",
      headers,
      body: JSON.stringify({ text }),
    });
    expect(response.status).to.equal(200);
  }

  /** Waits until all runs have completed. Checks that the main session has exactly one summary of each. */
  async expectCompletedOnce(ids: readonly string[]) {
    const { runs, mainEvents } = this.app.stores;
    const these = { _id: { $in: [...ids] } };
    const finalized = () => runs.collection.native.countDocuments({ ...these, finalized: true });
    await eventually(async () => (await finalized()) === ids.length, "every run to be finalized", 60_000);
    const ended = await runs.collection.native.find(these).toArray();
    expect(ended.map(({ status, reply }) => `${status} ${reply}`)).to.deep.equal(ids.map(() => "completed done"));
    const summaries = await mainEvents.collection.native.find({ source: { $nin: sourcesOf(this.#earlier) } }).toArray();
    expect(summaries.map(({ source }) => source)).to.have.members(sourcesOf(ids));
    return ended;
  }
}
