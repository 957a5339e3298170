import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import type { Timings } from "../../../src/shared/timings.ts";
import { type Answer, startApp, type TestApp } from "../app.ts";
import { eventually } from "../eventually.ts";
import { type ModelServer, startModelServer } from "../servers/modelServer.ts";
import { startWorker, type TestWorker } from "../worker.ts";

const TOKEN = "a-hook-token-of-length";

/** A run in the API's format. */
export interface Run {
  runId: string;
  kind: string;
  name: string | null;
  sessionKey: string;
  status: string;
  attempts: number;
  reply: string | null;
  error: { code: string; message: string } | null;
  deliveries: { channel: string; to: string | null; state: string }[];
  createdAt: string;
}

interface Settings {
  /** Other settings in `hooks`, in `agents.defaults` and in the file. */
  hooks?: string;
  defaults?: string;
  /** Modules under hooks.transformsDir, by name. */
  files?: Record<string, string>;
  readonly timings?: Timings;
}

/** An app and a worker with mappings and a scripted model server. */
export class MappedHookFixture {
  readonly app: TestApp;
  readonly worker: TestWorker;
  readonly model: ModelServer;
  /** The directory `hooks.transformsDir`. */
  readonly dir: string;

  private constructor(app: TestApp, worker: TestWorker, model: ModelServer, dir: string) {
    this.app = app;
    this.worker = worker;
    this.model = model;
    this.dir = dir;
  }

  /** @param mappings JSON5 text or values */
  static async start(mappings: string | object[], { hooks = "", defaults = "", files = {}, timings }: Settings = {}) {
    const dir = mkdtempSync(join(tmpdir(), "signalbox-transforms-"));
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text);
    const model = await startModelServer();
    const list = typeof mappings === "string" ? `[${mappings}]` : JSON.stringify(mappings);
    const app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}", transformsDir: "${dir}", mappings: ${list}, ${hooks} },
        agents: {
          defaults: { runner: "openai", model: "small", heartbeat: { every: "1d" }, ${defaults} },
          runners: { openai: { baseUrl: "${model.url}" } },
        },
        channels: { log: {} },
      }`,
    });
    return new MappedHookFixture(app, await startWorker(app, {}, timings), model, dir);
  }

  async close(): Promise<void> {
    await this.worker.close();
    await this.app.close();
    await this.model.close();
    rmSync(this.dir, { recursive: true });
  }

  post(name: string, body: object | string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.app.call("POST", `/hooks/${name}`, body, { Authorization: `Bearer ${TOKEN}`, ...headers });
  }

  /** Posts a hook and returns the runIds. */
  async acceptedAll(name: string, body: object | string, headers: Record<string, string> = {}): Promise<string[]> {
    const answer = await this.post(name, body, headers);
    expect(answer.status, JSON.stringify(answer.body)).to.equal(202);
    return answer.body.runIds;
  }

  async accepted(...request: Parameters<MappedHookFixture["acceptedAll"]>): Promise<string> {
    return (await this.acceptedAll(...request))[0] as string;
  }

  async read(runId: string): Promise<Run> {
    return (await this.app.call("GET", `/api/runs/${runId}`)).body;
  }

  ended(runId: string, withinMs?: number): Promise<Run> {
    const look = async () => {
      const run = await this.read(runId);
      return ["completed", "failed", "dropped"].includes(run.status) && run;
    };
    return eventually(look, "the run to end", withinMs) as Promise<Run>;
  }

  /** Sends a request and waits for the end of its run. */
  async run(...request: Parameters<MappedHookFixture["acceptedAll"]>): Promise<Run> {
    return this.ended(await this.accepted(...request));
  }

  /** Returns the last message of the model request that contains a text, or "" without such a request. */
  promptWith(text: string): string {
    const messages = this.model.requests.map(({ body }) => String(body.messages.at(-1).content));
    return messages.find((content) => content.includes(text)) ?? "";
  }

  /** Returns the main session's event with the summary of a run. */
  summaryOf(runId: string) {
    const { mainEvents } = this.app.stores;
    return eventually(() => mainEvents.collection.native.findOne({ source: `run ${runId}` }), "the summary");
  }
}

/** Returns the text between the markers of a prompt. */
export const fenced = (prompt: string): string | undefined => /">>>\n([\s\S]*)\n<<</.exec(prompt)?.[1];
