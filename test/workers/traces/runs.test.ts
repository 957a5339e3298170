import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { NotifyFixture } from "../../support/notifyFixture.ts";
import { type OtlpReceiver, type ReceivedSpan, startOtlpReceiver } from "../../support/servers/otlpReceiver.ts";

const HOOK_TOKEN = "a-hook-token-of-length";
const PUBLIC_URL = "https://signalbox.example.com";
const CALLER = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7";

/** Answers with its trace, with the usage of Claude Code's JSON; fails for a prompt that asks for it. */
const PROGRAM = `
  let prompt = "";
  process.stdin.on("data", (part) => { prompt += part; }).on("end", () => {
    if (/fail/.test(prompt)) process.exit(3);
    const usage = { input_tokens: 10, cache_read_input_tokens: 5, cache_creation_input_tokens: 0, output_tokens: 7 };
    console.log(JSON.stringify({ type: "result", subtype: "success", result: process.env.TRACEPARENT ?? "none", usage }));
  });`;

describe("traces of agent runs", () => {
  let receiver: OtlpReceiver;
  let fixture: NotifyFixture;
  before(async () => {
    receiver = await startOtlpReceiver();
    fixture = await NotifyFixture.start([], {
      server: { publicUrl: PUBLIC_URL },
      otel: { traces: true, endpoint: receiver.url },
      hooks: {
        enabled: true,
        token: HOOK_TOKEN,
        mappings: [
          { id: "ci", match: { path: "ci" }, messageTemplate: "{{n}}", trackAsJob: true, deliver: false },
          { id: "job", match: { path: "job" }, action: "job", job: { id: "mapped-{{n}}" } },
        ],
      },
      agents: {
        defaults: { runner: "command", model: "test-model" },
        runners: { command: { command: [process.execPath, "-e", PROGRAM], output: "json" } },
      },
    });
  });
  afterEach(() => expect(receiver.faults).to.deep.equal([]));
  after(async () => {
    await fixture.close();
    await receiver.close();
  });

  /** Sends a request to a hook, and waits for the end of its run. */
  const run = async (path: string, body: object, headers: Record<string, string> = {}) => {
    const { app } = fixture;
    const authorized = { Authorization: `Bearer ${HOOK_TOKEN}`, ...headers };
    const { body: accepted } = await app.call("POST", `/hooks/${path}`, body, authorized);
    const read = async () => (await app.call("GET", `/api/runs/${accepted.runId}`)).body;
    await eventually(async () => (await read()).endedAt !== null, "the end of the run");
    return read();
  };
  const received = async (traceId: string, count: number): Promise<ReceivedSpan[]> => {
    const found = () => receiver.spans.filter((span) => span.traceId === traceId);
    await eventually(() => found().length >= count, `${count} spans of ${traceId}`);
    return found();
  };
  const traceIdOf = (traceparent: string) => traceparent.split("-")[1] as string;

  it("are one trace with each attempt, the usage, and the link to the request", async () => {
    const { runId, reply } = await run("agent", { message: "Hello", name: "Greeter" }, { traceparent: `${CALLER}-01` });

    const [root, attempt] = await received(traceIdOf(reply), 2);

    expect(reply).to.equal(`00-${root?.traceId}-${root?.spanId}-01`);
    expect(root).to.include({ name: "invoke_agent Greeter", kind: 2 });
    expect(root?.parentSpanId).to.equal(undefined);
    expect(root?.links.map(({ spanId }) => spanId)).to.deep.equal(["00f067aa0ba902b7"]);
    expect(root?.attributes).to.deep.equal({
      "cicd.pipeline.name": "Greeter",
      "cicd.pipeline.run.id": runId,
      "cicd.pipeline.run.url.full": `${PUBLIC_URL}/runs/${runId}`,
      "cicd.pipeline.result": "success",
      "gen_ai.operation.name": "invoke_agent",
      "gen_ai.provider.name": "command",
      "gen_ai.agent.name": "Greeter",
      "gen_ai.request.model": "test-model",
      "gen_ai.usage.input_tokens": "15",
      "gen_ai.usage.cache_read.input_tokens": "5",
      "gen_ai.usage.output_tokens": "7",
    });
    expect(attempt).to.include({ name: "Agent turn", kind: 1, parentSpanId: root?.spanId });
    expect(attempt?.attributes["cicd.pipeline.task.run.result"]).to.equal("success");
  });

  it("fail with the code of their error", async () => {
    const { runId } = await run("agent", { message: "fail" });
    const isOfRun = ({ attributes }: ReceivedSpan) => attributes["cicd.pipeline.run.id"] === runId;
    await eventually(() => receiver.spans.some(isOfRun), "the span of the run");

    const [root] = receiver.spans.filter(isOfRun) as [ReceivedSpan];
    const spans = await received(root.traceId, 2);

    expect(root.attributes).to.include({ "cicd.pipeline.result": "failure", "error.type": "agent_failed" });
    for (const { status } of spans) expect(status).to.deep.equal({ code: 2 });
    await fixture.app.call("POST", `/api/runs/${runId}/retry`);
    await eventually(() => receiver.spans.filter(isOfRun).length === 2, "the span of the second round");
    expect(new Set(receiver.spans.filter(isOfRun).map(({ traceId }) => traceId)).size).to.equal(2);
  });

  it("are one trace with the job that shows them, whose trace the program gets", async () => {
    const { runId, reply } = await run("ci", { n: 1 }, { traceparent: `${CALLER}-01` });
    const { body: job } = await fixture.app.call("GET", `/api/jobs/${runId}`);

    const spans = await received(traceIdOf(job.traceparent), 3);

    expect(reply).to.equal(job.traceparent);
    const [root] = spans.filter(({ parentSpanId }) => parentSpanId === undefined);
    const others = spans.filter((span) => span !== root);
    expect(root?.links).to.have.length(1);
    expect(root?.attributes["cicd.pipeline.run.id"]).to.equal(runId);
    expect(others.map(({ name }) => name)).to.have.members(["Agent turn", "invoke_agent ci"]);
    for (const span of others) expect(span).to.include({ kind: 1, parentSpanId: root?.spanId });
    const agent = others.find(({ name }) => name.startsWith("invoke_agent"));
    expect(agent?.attributes).to.include({ "gen_ai.usage.output_tokens": "7" });
  });

  it("are left out if the caller's trace is not sampled, which the program reads too", async () => {
    const headers = { traceparent: `${CALLER}-00` };
    const own = await run("agent", { message: "Hello" }, headers);
    const shown = await run("ci", { n: 2 }, headers);
    const { jobId } = await run("job", { n: 1 }, headers);
    const sampled = await run("agent", { message: "Hello" });

    await received(traceIdOf(sampled.reply), 2);
    await fixture.dispatched();

    const { body: mapped } = await fixture.app.call("GET", `/api/jobs/${encodeURIComponent(jobId)}`);
    for (const traceparent of [own.reply, shown.reply, mapped.traceparent]) {
      expect(traceparent).to.match(/-00$/);
      expect(receiver.spans.filter(({ traceId }) => traceId === traceIdOf(traceparent))).to.deep.equal([]);
    }
  });
});
