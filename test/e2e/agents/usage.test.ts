import { expect } from "chai";
import { endedSince } from "../../../src/models/runs/usage/sumUsage.ts";
import { startApp, type TestApp } from "../../support/app.ts";
import { eventually } from "../../support/eventually.ts";
import {
  answers,
  delta,
  type ModelServer,
  startModelServer,
  streams,
  usageChunk,
} from "../../support/servers/modelServer.ts";
import { startWorker, type TestWorker } from "../../support/worker.ts";

const TOKEN = "a-hook-token-of-length";
const bearer = { Authorization: `Bearer ${TOKEN}` };
const NOTHING = {
  inputTokens: null,
  cachedInputTokens: null,
  outputTokens: null,
  reasoningTokens: null,
  costUsd: null,
};

/** Streams usage, then the end of the answer. */
const replies = (usage: object, end: object = delta({ content: "Done." }, "stop")) => streams([usageChunk(usage), end]);
const failsLate = (usage: object) => replies(usage, { error: { code: 503, message: "busy" } });

describe("the usage of a run", () => {
  let model: ModelServer;
  let app: TestApp;
  let worker: TestWorker;

  async function start(defaults: string, runners: string): Promise<void> {
    app = await startApp({
      config: `{
        hooks: { enabled: true, token: "${TOKEN}" },
        agents: { defaults: { heartbeat: { every: "1d" }, ${defaults} }, runners: { ${runners} } },
      }`,
    });
    worker = await startWorker(app);
  }
  const startWithServer = () => start('runner: "openai", model: "small"', `openai: { baseUrl: "${model.url}" }`);
  beforeEach(async () => {
    model = await startModelServer();
  });
  afterEach(async () => {
    await worker.close();
    await app.close();
    await model.close();
  });

  async function agent(body: object = {}): Promise<string> {
    const request = { message: "x", deliver: false, wakeMode: "next-heartbeat", ...body };
    return (await app.call("POST", "/hooks/agent", request, bearer)).body.runId;
  }
  const ended = (runId: string) =>
    eventually(async () => {
      const run = (await app.call("GET", `/api/runs/${runId}`)).body;
      return run.endedAt !== null && run;
    }, "the run to end");
  const finalized = (count: number) =>
    eventually(
      async () => (await app.stores.runs.collection.native.countDocuments({ finalized: true })) === count,
      "the runs to be finalized",
    );

  it("is the sum of its tries, and in the metrics, the list and the statistics", async () => {
    await startWithServer();
    model.script(
      failsLate({ prompt_tokens: 100, completion_tokens: 5, prompt_tokens_details: { cached_tokens: 60 } }),
      replies({ prompt_tokens: 110, completion_tokens: 20, prompt_tokens_details: { cached_tokens: 100 } }),
      replies({ prompt_tokens: 7, completion_tokens: 1 }),
    );

    const run = await ended(await agent());
    const other = await ended(await agent({ model: "from-a-request" }));

    expect(run).to.include({ status: "completed", attempts: 2 });
    expect(run.failedAttempts).to.have.length(1);
    expect(run.failedAttempts[0])
      .to.deep.include({ attempt: 1 })
      .and.to.have.all.keys("attempt", "error", "startedAt", "endedAt");
    expect(other).to.not.have.property("failedAttempts");
    const usage = { ...NOTHING, inputTokens: 210, cachedInputTokens: 160, outputTokens: 25 };
    expect(run.usage).to.deep.equal(usage);
    expect(other.usage).to.deep.equal({ ...NOTHING, inputTokens: 7, outputTokens: 1 });
    expect((await app.call("GET", "/api/runs")).body.runs[1].usage).to.deep.equal(usage);
    await finalized(2);
    const { usageLastHour } = (await app.call("GET", "/api/stats")).body;
    expect(usageLastHour).to.deep.equal({ ...NOTHING, inputTokens: 217, cachedInputTokens: 160, outputTokens: 26 });
    const text = await worker.metrics.registry.metrics();
    expect(text).to.include('signalbox_agent_tokens_total{kind="input",model="small"} 210\n');
    expect(text).to.include('signalbox_agent_tokens_total{kind="cached_input",model="small"} 160\n');
    expect(text).to.include('signalbox_agent_tokens_total{kind="output",model="small"} 25\n');
    expect(text).to.include('signalbox_agent_tokens_total{kind="input",model="other"} 7\n');
    expect(text).to.not.include("from-a-request");
  });

  it("is null if nothing reports it, and leaves the statistics after an hour", async () => {
    await startWithServer();
    model.script(replies({ prompt_tokens: 1 }));
    await ended(await agent());
    await finalized(1);
    app.clock.advance(3_601_000);

    const run = await ended(await agent());

    expect(run).to.include({ status: "completed", usage: null });
    await finalized(2);
    expect((await app.call("GET", "/api/stats")).body.usageLastHour).to.equal(null);
  });

  it("is kept when the run fails for good, and grows with a retry by hand", async () => {
    await startWithServer();
    model.script(
      replies({ prompt_tokens: 9, completion_tokens: 2 }, delta({}, "length")),
      replies({ prompt_tokens: 9 }),
    );
    const failed = await ended(await agent());
    await finalized(1);

    await app.call("POST", `/api/runs/${failed.runId}/retry`);
    const run = await ended(failed.runId);

    expect(failed).to.include({ status: "failed" });
    expect(failed.usage).to.deep.equal({ ...NOTHING, inputTokens: 9, outputTokens: 2 });
    expect(run).to.include({ status: "completed" });
    expect(run.usage).to.deep.equal({ ...NOTHING, inputTokens: 18, outputTokens: 2 });
  });

  it("keeps that of earlier tries when a worker dies in a try", async () => {
    await startWithServer();
    model.script(replies({ prompt_tokens: 5 }));
    await worker.close();
    const runId = await agent();
    const dead = { token: "t", until: new Date(0) };
    await app.stores.runs.collection.native.updateOne(
      { _id: runId },
      { $set: { status: "running", attempts: 2, lease: dead, usage: { inputTokens: 40, costUsd: 0.5 } } },
    );

    worker = await startWorker(app);
    const run = await ended(runId);

    expect(run).to.include({ status: "completed", attempts: 3 });
    expect(run.usage).to.deep.equal({ ...NOTHING, inputTokens: 45, costUsd: 0.5 });
  });

  it("of the main session's turns is counted in the metrics, also from a server that refuses stream_options", async () => {
    await startWithServer();
    model.script(
      answers(400, { error: { message: "Unknown field: stream_options" } }),
      replies({ prompt_tokens: 30, completion_tokens: 3, completion_tokens_details: { reasoning_tokens: 2 } }),
    );

    await app.call("POST", "/hooks/wake", { text: "Look.", mode: "now" }, bearer);

    const text = await eventually(async () => {
      const seen = await worker.metrics.registry.metrics();
      return seen.includes('signalbox_heartbeat_turns_total{outcome="replied"} 1\n') && seen;
    }, "the turn to be counted");
    expect(text).to.include('signalbox_agent_tokens_total{kind="input",model="small"} 30\n');
    expect(text).to.include('signalbox_agent_tokens_total{kind="reasoning",model="small"} 2\n');
    expect(model.requests.map(({ body }) => "stream_options" in body)).to.deep.equal([true, false]);
  });

  it("of the last hour is found by an index", async () => {
    await startWithServer();

    const plan = await app.stores.runs.collection.native.find(endedSince(new Date())).explain("queryPlanner");

    const found = JSON.stringify(plan.queryPlanner.winningPlan);
    expect(found).to.include("IXSCAN").and.to.include('"endedAt"').and.to.not.include("COLLSCAN");
  });

  it("has the cost that a program reports", async () => {
    const usage = {
      input_tokens: 9,
      cache_read_input_tokens: 800,
      cache_creation_input_tokens: 100,
      output_tokens: 31,
    };
    const printed = JSON.stringify({ type: "result", is_error: false, result: "Done.", total_cost_usd: 0.1, usage });
    const source = `process.stdout.write(${JSON.stringify(printed)})`;
    const command = JSON.stringify([process.execPath, "-e", source]);
    await start('runner: "command"', `command: { command: ${command}, output: "json" }`);

    const run = await ended(await agent());

    expect(run).to.include({ status: "completed", reply: "Done." });
    const expected = {
      inputTokens: 909,
      cachedInputTokens: 800,
      outputTokens: 31,
      reasoningTokens: null,
      costUsd: 0.1,
    };
    expect(run.usage).to.deep.equal(expected);
    expect(await worker.metrics.registry.metrics()).to.include('signalbox_agent_cost_usd_total{model=""} 0.1\n');
  });
});
