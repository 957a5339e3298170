import { expect } from "chai";
import { agentPrompt } from "../../../src/agents/prompt/agentPrompt.ts";
import { createRunner } from "../../../src/agents/runners/createRunner.ts";
import { AppError } from "../../../src/shared/errors.ts";
import { turn, whatWasThrown } from "./turn.ts";

describe("The echo runner", () => {
  const runner = createRunner("echo", {}, {});
  const { signal } = new AbortController();

  it("replies with its name and the beginning of the last user message", async () => {
    const messages = [
      { role: "user", content: "first" },
      { role: "assistant", content: "answer" },
      { role: "user", content: ` ${"🚂".repeat(500)}` },
    ] as const;

    expect(await runner.run(turn("Hello."), signal)).to.deep.equal({ text: "The echo runner received: Hello." });
    expect(await runner.run(turn("", { messages }), signal)).to.deep.equal({
      text: `The echo runner received: ${"🚂".repeat(200)}…`,
    });
  });

  it("repeats only the message, without the notice and markers around it", async () => {
    const prompt = agentPrompt({
      message: "Hello\nthere.",
      source: "a hook",
      instructions: "Do it.",
      allowUnsafe: false,
    });

    expect(await runner.run(turn(prompt), signal)).to.deep.equal({ text: "The echo runner received: Hello\nthere." });
  });

  it("acknowledges a heartbeat", async () => {
    expect(await runner.run(turn("events", { kind: "heartbeat" }), signal)).to.deep.equal({ text: "HEARTBEAT_OK" });
  });

  it("rejects if the signal was aborted before", async () => {
    const reason = new AppError("cancelled");

    expect(await whatWasThrown(runner.run(turn("Hello."), AbortSignal.abort(reason)))).to.equal(reason);
    expect(await whatWasThrown(runner.run(turn("Hello."), AbortSignal.abort()))).to.include({ code: "timeout" });
  });
});
