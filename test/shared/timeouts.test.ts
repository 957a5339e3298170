import { getEventListeners } from "node:events";
import { expect } from "chai";
import { withDeadline } from "../../src/shared/timeouts.ts";

/** Resolves with the signal's reason once it aborts. */
const reasonOf = (signal: AbortSignal) =>
  new Promise<unknown>((resolve) => {
    if (signal.aborted) resolve(signal.reason);
    signal.addEventListener("abort", () => resolve(signal.reason));
  });

describe("withDeadline", () => {
  it("returns what the work returns and throws what it throws", async () => {
    const error = new Error("the work's");

    const returned = await withDeadline([], undefined, async () => "done");
    const thrown = await withDeadline([], 60_000, () => Promise.reject(error)).catch((caught: unknown) => caught);

    expect(returned).to.equal("done");
    expect(thrown).to.equal(error);
  });

  it("aborts its signal with the reason of the first source that aborts", async () => {
    const [first, second] = [new AbortController(), new AbortController()];
    const working = withDeadline([first.signal, second.signal], 60_000, reasonOf);

    second.abort("second");
    first.abort("first");

    expect(await working).to.equal("second");
  });

  it("passes an aborted signal when a source was aborted before", async () => {
    const fired = await withDeadline([AbortSignal.abort("before")], 60_000, async (signal) => signal.reason);

    expect(fired).to.equal("before");
  });

  it("aborts its signal with a TimeoutError when the time is up", async () => {
    expect(await withDeadline([new AbortController().signal], 1, reasonOf)).to.have.property("name", "TimeoutError");
  });

  it("leaves no listener on its sources, however the work ends", async () => {
    const { signal } = new AbortController();

    await withDeadline([signal], undefined, async () => {});
    await withDeadline([signal], 60_000, () => Promise.reject(new Error("failed"))).catch(() => {});

    expect(getEventListeners(signal, "abort")).to.deep.equal([]);
  });
});
