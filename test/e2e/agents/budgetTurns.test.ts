import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "chai";
import { eventually } from "../../support/eventually.ts";
import { CommandAgent } from "./commandAgent.ts";

const message = (content: object[]) =>
  JSON.stringify({
    type: "assistant",
    message: { id: "m", content, usage: { input_tokens: 90, output_tokens: 10 } },
    parent_tool_use_id: null,
  });
const USAGE = { input_tokens: 90, output_tokens: 10 };
const RESULT = JSON.stringify({ type: "result", result: "Whole.", usage: USAGE, total_cost_usd: 1 });
/** Writes a part, uses a tool again and again until there is a file `go`, and ends. */
const PROGRAM = `
echo '${message([{ type: "text", text: "First part." }])}'
while [ ! -e go ]; do echo '${message([{ type: "tool_use", id: "t", name: "Bash", input: {} }])}'; sleep 0.05; done
echo '${RESULT}'
`;

describe("a budget, while a turn runs,", () => {
  const agent = new CommandAgent();

  const start = (then: string) =>
    agent.start(PROGRAM, {
      runner: 'output: "json"',
      agents: `budgets: [{ id: "each", per: "run", tokens: 50, then: "${then}" }]`,
    });
  const question = () =>
    eventually(async () => {
      const { gates } = (await agent.app.call("GET", "/api/gates?status=open")).body;
      return gates[0];
    }, "the question");
  const answer = ({ jobId, key }: { jobId: string; key: string }, action: string) =>
    agent.app.call("POST", `/api/jobs/${jobId}/gates/${key}/answer`, { action });
  const go = () => writeFileSync(join(agent.dir, "go"), "");

  it("ends it at its next tool if it refuses, with the text so far and what was used", async () => {
    await start("refuse");

    const run = await agent.ended(await agent.accept({ message: "hi" }));

    expect(run).to.include({ status: "failed", attempts: 1, reply: "First part." });
    expect(run.error).to.deep.equal({
      code: "budget_exceeded",
      message: "The budget each is used up: 100 tokens of 50 tokens by this run.",
    });
    expect(run).to.have.nested.property("usage.inputTokens", 90);
  });

  it("asks while it goes on, and ends it with the text so far if that is declined", async () => {
    await start("ask");
    const runId = await agent.accept({ message: "hi", name: "Work" });
    const gate = await question();
    expect(gate).to.include({ jobId: runId });
    expect(gate.message).to.include("The run Work works on until you answer.");
    expect((await agent.read(runId)).status).to.equal("running");

    await answer(gate, "decline");

    const run = await agent.ended(runId);
    expect([run.status, run.error?.code, run.reply]).to.deep.equal(["failed", "budget_exceeded", "First part."]);
  });

  it("asks while it goes on, and lets it complete once that is accepted", async () => {
    await start("ask");
    const runId = await agent.accept({ message: "hi" });
    await answer(await question(), "accept");

    go();

    expect(await agent.ended(runId)).to.include({ status: "completed", reply: "Whole." });
  });

  it("asks while it goes on, and withdraws the question of a run that ends before the answer", async () => {
    await start("ask");
    const runId = await agent.accept({ message: "hi" });
    const { jobId, key } = await question();

    go();

    expect(await agent.ended(runId)).to.include({ status: "completed" });
    await eventually(async () => {
      const { body } = await agent.app.call("GET", `/api/jobs/${jobId}/gates/${key}`);
      return body.status === "withdrawn";
    }, "the question to be withdrawn");
  });
});
