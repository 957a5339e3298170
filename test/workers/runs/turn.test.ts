import { once } from "node:events";
import { Worker } from "node:worker_threads";
import { expect } from "chai";
import type { AgentReply } from "../../../src/agents/runners/runner.ts";
import { runTurn } from "../../../src/workers/runs/turn.ts";

describe("runTurn", () => {
  const never = new AbortController().signal;

  let left: { readonly asksNothing: number; readonly listens: number };
  before(async () => {
    const thread = new Worker(new URL("turnSignals.ts", import.meta.url));
    const ended = once(thread, "exit");
    [left] = await once(thread, "message");
    await ended;
  });

  it("leaves no timer or signal behind when the turn has ended", () => {
    expect(left.asksNothing).to.be.below(20);
  });

  it("leaves no signal behind when the work left a listener on it, as OpenAI's client does", () => {
    expect(left.listens).to.be.below(20);
  });

  for (const which of ["lost", "stopping"] as const) {
    it(`aborts the turn with the reason of the signal when it is ${which}, even before it starts`, async () => {
      const reasons: unknown[] = [];
      const recordReason = (signal: AbortSignal) =>
        new Promise<AgentReply>((_, reject) => {
          const onAbort = () => reject(reasons.push(signal.reason));
          if (signal.aborted) onAbort();
          else signal.addEventListener("abort", onAbort);
        });
      const controller = new AbortController();
      const bounds = { timeoutMs: 600_000, lost: never, stopping: never, [which]: controller.signal };

      const ending = runTurn(recordReason, bounds);
      controller.abort("why");
      const ends = [await ending, await runTurn(recordReason, bounds)];

      const kind = which === "lost" ? "lost" : "stopped";
      expect(ends).to.deep.equal([{ kind }, { kind }]);
      expect(reasons).to.deep.equal(["why", "why"]);
    });
  }

  it("aborts a turn that takes too long, and returns a time-out", async () => {
    const aborted = (signal: AbortSignal) =>
      new Promise<AgentReply>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

    const end = await runTurn(aborted, { timeoutMs: 20, lost: never, stopping: never });

    expect(end).to.have.nested.property("error.code", "timeout");
    expect(end).to.have.nested.property("error.message").that.includes("0.02 seconds");
  });
});
