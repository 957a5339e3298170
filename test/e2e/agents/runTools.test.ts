import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { openEvents, type TestEvents } from "../../support/eventSource.ts";
import { eventually } from "../../support/eventually.ts";
import { CommandAgent } from "./commandAgent.ts";

const say = (line: object) => `echo '${JSON.stringify(line)}'`;
const use = (id: string, name: string) =>
  say({ type: "assistant", message: { content: [{ type: "tool_use", id, name, input: { command: "ls" } }] } });
const used = (id: string) => say({ type: "user", message: { content: [{ type: "tool_result", tool_use_id: id }] } });

/** A program that prints what Claude Code prints, and waits before its end for the file `go`. */
const PROGRAM = [
  "cat > /dev/null",
  say({ type: "system", subtype: "init" }),
  say({ type: "assistant", message: { content: [{ type: "text", text: "I look." }] } }),
  "echo 'a warning' >&2",
  use("t1", "Bash"),
  used("t1"),
  use("t2", "Read"),
  "while [ ! -e go ]; do sleep 0.05; done",
  say({ type: "result", result: "Done.", usage: { input_tokens: 3, output_tokens: 2 }, total_cost_usd: 0.25 }),
].join("\n");

describe("The tools of a run whose program prints them", () => {
  const agent = new CommandAgent();
  const open: TestEvents[] = [];
  afterEach(() => {
    for (const stream of open.splice(0)) stream.close();
  });
  const start = (showTools: string) =>
    agent.start(PROGRAM, {
      more: "trackAsJob: true",
      runner: 'output: "json"',
      agents: showTools && `showTools: "${showTools}"`,
    });
  /** Starts a run and waits for its line of standard error, or for its second tool. */
  const accept = async (awaited: "log" | "tool.started") => {
    const runId = await agent.accept({ message: "x" });
    const stream = await openEvents(`${agent.app.url}/api/runs/${runId}/events`, {}, { live: null });
    open.push(stream);
    await stream.next(awaited, ({ tool }) => tool === undefined || tool === "Read");
    return { runId, stream };
  };
  /** Reads the step of the job that shows a run. */
  const stepOf = async ({ runId }: { runId: string }) =>
    (await agent.app.call("GET", `/api/jobs/${runId}?include=steps`)).body.steps[0];
  const finish = async ({ stream }: { stream: TestEvents }) => {
    writeFileSync(join(agent.dir, "go"), "");
    await eventually(() => stream.isOver(), "the end of the stream");
    return stream.events.map(({ event, data: { ms: _, ...data } }) => ({ event, ...data }));
  };

  it("are sent by name as they start and end, with the texts, the log and the usage, and are the job's message", async () => {
    await start("");
    const run = await accept("tool.started");

    await eventually(async () => (await stepOf(run)).message === "Read", "the newest tool as the message of the job");
    const events = await finish(run);
    const step = await eventually(async () => {
      const now = await stepOf(run);
      return now.status === "completed" && now;
    }, "the end of the job");

    const { event, reply, status } = { ...events.pop(), ...(await agent.read(run.runId)) };
    expect([event, reply, status]).to.deep.equal(["run.completed", "Done.", "completed"]);
    expect(events.filter((one) => one.event !== "log")).to.deep.equal([
      { event: "run.started", attempt: 1 },
      { event: "message.delta", delta: "I look." },
      { event: "tool.started", tool: "Bash", preview: null },
      { event: "tool.completed", tool: "Bash", error: false },
      { event: "tool.started", tool: "Read", preview: null },
      {
        event: "usage",
        inputTokens: 3,
        cachedInputTokens: null,
        outputTokens: 2,
        reasoningTokens: null,
        costUsd: 0.25,
      },
    ]);
    expect(events.filter((one) => one.event === "log")).to.deep.equal([{ event: "log", text: "a warning\n" }]);
    expect(step.message).to.equal("Completed");
  });

  it("are sent with the beginning of their input if agents.showTools is previews", async () => {
    await start("previews");

    const events = await finish(await accept("tool.started"));

    expect(events).to.deep.include({ event: "tool.started", tool: "Bash", preview: '{"command":"ls"}' });
  });

  it("are not sent if agents.showTools is off, and are not in the job", async () => {
    await start("off");
    const run = await accept("log");

    const { message } = await stepOf(run);
    const events = await finish(run);

    expect(events.map(({ event }) => event).filter((event) => /^tool/.test(event))).to.deep.equal([]);
    expect(message).to.equal("Attempt 1");
  });
});
