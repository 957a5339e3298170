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

  it("that is over leaves nothing behind where what it asked still listens for its end, as OpenAI's client does", async () => {
    const bounds = { timeoutMs: 600_000, lost: never, stopping: new AbortController().signal };
    const listens = async (signal: AbortSignal) => {
      signal.addEventListener("abort", () => {}, { once: true });
      return "done";
    };
    await boundTurn(listens, bounds);
    const before = await signals();

    for (let turn = 0; turn < 200; turn++) await boundTurn(listens, bounds);

    expect((await signals()) - before).to.be.below(20);
  });

  for (const which of ["lost", "stopping"] as const) {
    it(`is aborted with what was said of it when it is ${which}, also before it begins`, async () => {
      const heard: unknown[] = [];
      const hears = (signal: AbortSignal) =>
        new Promise<string>((_, reject) => {
          const told = () => reject(heard.push(signal.reason));
          if (signal.aborted) told();
          else signal.addEventListener("abort", told);
        });
      const controller = new AbortController();
      const bounds = { timeoutMs: 600_000, lost: never, stopping: never, [which]: controller.signal };

      const ending = boundTurn(hears, bounds);
      controller.abort("why");
      const ends = [await ending, await boundTurn(hears, bounds)];

      const kind = which === "lost" ? "lost" : "stopped";
      expect(ends).to.deep.equal([{ kind }, { kind }]);
      expect(heard).to.deep.equal(["why", "why"]);
    });
  }

  it("that takes longer than it may is aborted, and fails with a time-out", async () => {
    const aborted = (signal: AbortSignal) =>
      new Promise<string>((_, reject) => signal.addEventListener("abort", () => reject(signal.reason)));

    const end = await boundTurn(aborted, { timeoutMs: 20, lost: never, stopping: never });

    expect(end).to.have.nested.property("error.code", "timeout");
    expect(end).to.have.nested.property("error.message").that.includes("0.02 seconds");
  });
});
