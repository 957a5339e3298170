import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect } from "chai";
import { type Answer, startApp, type TestApp } from "../support/app.ts";
import { eventually } from "../support/eventually.ts";
import { type ModelServer, startModelServer } from "../support/modelServer.ts";
import { startWorker, type TestWorker } from "../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };

interface Run {
  runId: string;
  kind: string;
  name: string | null;
  sessionKey: string;
  status: string;
  reply: string | null;
  error: { code: string; message: string } | null;
  deliveries: { channel: string; to: string | null; state: string }[];
}

describe("mapped hooks, carried out by a worker", () => {
  let model: ModelServer;
  let app: TestApp;
  let worker: TestWorker;
  let dir: string;

  /** An app and a worker with these mappings, and these files under transformsDir. */
  async function start(mappings: string, { hooks = "", defaults = "", files = {} } = {}): Promise<void> {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(dir, name), text as string);
    app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}", transformsDir: "${dir}", mappings: [${mappings}], ${hooks} },
        agents: {
          defaults: { runner: "openai", model: "small", heartbeat: { every: "1d" }, ${defaults} },
          runners: { openai: { baseUrl: "${model.url}" } },
        },
        channels: { log: {} },
      }`,
    });
    worker = await startWorker(app);
  }
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), "signalbox-transforms-"));
    model = await startModelServer();
  });
  afterEach(async () => {
    await worker.close();
    await app.close();
    await model.close();
    rmSync(dir, { recursive: true });
  });

  const post = (name: string, body: object, headers: Record<string, string> = bearer): Promise<Answer> =>
    app.call("POST", `/hooks/${name}`, body, headers);
  const accepted = async (name: string, body: object, headers = {}): Promise<string> => {
    const { status, body: answer } = await post(name, body, { ...bearer, ...headers });
    expect(status, JSON.stringify(answer)).to.equal(202);
    return answer.runId;
  };
  const read = async (runId: string): Promise<Run> => (await app.call("GET", `/api/runs/${runId}`)).body;
  const ended = (runId: string) =>
    eventually(async () => {
      const run = await read(runId);
      return ["completed", "failed", "dropped"].includes(run.status) && run;
    }, "the run to end");
  /** The last message that the model was sent, of the request that holds a text. */
  const promptWith = (text: string): string =>
    model.requests.map(({ body }) => body.messages.at(-1).content).find((content) => content.includes(text)) ?? "";

  it("make of the body a run of the agent: message, name, session, recipient; the reply is delivered", async () => {
    await start(`{
      match: { path: "ci/build" },
      name: "CI {{branch}}",
      sessionKey: "hook:ci:{{branch}}",
      messageTemplate: "Build {{build.id}} by {{build.authors[0].name}} failed: {{headers.x-reason}} {{query.q}} {{path}}",
      instructions: "Say what broke.",
      channel: "log", to: "{{room}}", wakeMode: "next-heartbeat",
    }`);

    const runId = await accepted(
      "ci/build?q=1&token=x",
      { branch: "main", build: { id: 7, authors: [{ name: "Ada" }] }, room: "ops" },
      { "X-Reason": "tests" },
    );
    const run = await ended(runId);

    expect(run).to.include({ kind: "agent", status: "completed", name: "CI main", sessionKey: "hook:ci:main" });
    expect(run).to.include({ reply: "Hello from the model." });
    const prompt = promptWith("Build");
    expect(prompt).to.match(/^Say what broke\.\n\nOutside content follows/);
    expect(prompt).to.include('">>>\nBuild 7 by Ada failed: tests 1 ci/build\n<<<');
    const sent = await eventually(async () => {
      const { deliveries } = await read(runId);
      return deliveries[0]?.state === "sent" && deliveries;
    }, "the delivery");
    expect(sent[0]).to.include({ channel: "log", to: "ops" });
  });

  it("make of the body an event of the main session, which wakes it", async () => {
    await start(`{ match: { path: "alert" }, action: "wake", name: "Monitor", textTemplate: "{{title}} is down" }`);

    const run = await ended(await accepted("alert", { title: "The shop" }));

    expect(run).to.include({ kind: "wake", status: "completed", name: "Monitor", sessionKey: "main", reply: null });
    await eventually(() => promptWith("The shop is down"), "the main session's turn");
    expect(promptWith("The shop is down")).to.include('from "Monitor"');
  });
});
