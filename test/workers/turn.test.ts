import { setImmediate } from "node:timers/promises";
import { queryObjects } from "node:v8";
import { expect } from "chai";
import { boundTurn } from "../../src/workers/turn.ts";

describe("a turn", () => {
  const never = new AbortController().signal;
  /** Those that a collection leaves, once nothing is under way that holds them. */
  const signals = async () => {
    await setImmediate();
    return Number(queryObjects(AbortSignal, { format: "count" }));
  };

  it("that is over leaves nothing behind that waits for its time-out", async () => {
    const bounds = { timeoutMs: 600_000, lost: never, stopping: never };
    await boundTurn(async () => "warm", bounds);
    const before = await signals();

    for (let turn = 0; turn < 200; turn++) await boundTurn(async () => "done", bounds);

    expect((await signals()) - before).to.be.below(20);
  });

  it("that takes longer than it may is aborted, and fails with a time-out", async () => {
    const aborted = (signal: AbortSignal) =>
      new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

    const end = await boundTurn(aborted, { timeoutMs: 20, lost: never, stopping: never });

    expect(end).to.have.nested.property("error.code", "timeout");
    expect(end).to.have.nested.property("error.message").that.includes("0.02 seconds");
  });
});
