import { expect } from "chai";
import { FairSemaphore } from "../../src/shared/fairSemaphore.ts";

describe("FairSemaphore", () => {
  const never = new AbortController().signal;

  /**
   * Requests a permit for each letter in order. `holders` returns the letters that hold one; `release` releases one permit
   * of a letter.
   */
  function request(semaphore: FairSemaphore, keys: string, signal = never) {
    const held: { key: string; release: () => void }[] = [];
    const requests = [...keys].map((key) =>
      semaphore.acquire(key, signal).then((release) => held.push({ key, release })),
    );
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    return {
      requests,
      async holders() {
        await settle();
        return held.map(({ key }) => key).join("");
      },
      async release(key: string) {
        held
          .splice(
            held.findIndex((one) => one.key === key),
            1,
          )[0]
          ?.release();
        return this.holders();
      },
    };
  }

  const cases: [number, string, string][] = [
    [1, "AAB", "A"],
    [2, "AAB", "AB"],
    [4, "AAAAA", "AA"],
    [7, "AAAAAAAAA", "AAA"],
    [8, "AAAAAAAAA", "AAAA"],
    [8, "AAAAAAAAABBBBBBBBCCCDDDE", "AAAABBCD"],
    [8, "ABCDEFGHI", "ABCDEFGH"],
  ];
  for (const [permits, keys, expected] of cases) {
    it(`grants ${permits} permits requested by ${keys} to ${expected}`, async () => {
      expect(await request(new FairSemaphore(permits), keys).holders()).to.equal(expected);
    });
  }

  it("serves the keys in turn and the requests of a key in order", async () => {
    const requested = request(new FairSemaphore(1), "AAABBC");

    const order = [await requested.holders()];
    for (const key of "AABCA") order.push(await requested.release(key));

    expect(order).to.deep.equal(["A", "A", "B", "C", "A", "B"]);
  });

  it("returns how many requests of a key wait, and how long the first has waited", async () => {
    const semaphore = new FairSemaphore(1);
    const before = performance.now();
    const requested = request(semaphore, "AAAB");
    await requested.holders();

    const [a, b, c] = ["A", "B", "C"].map((key) => semaphore.queueDepth(key));
    await requested.release("A");
    await requested.release("B");

    expect([a?.depth, b?.depth, c]).to.deep.equal([2, 1, { depth: 0, waitedMs: 0 }]);
    expect(a?.waitedMs).to.be.within(0, performance.now() - before);
    expect([semaphore.queueDepth("A").depth, semaphore.queueDepth("B")]).to.deep.equal([1, { depth: 0, waitedMs: 0 }]);
  });

  it("rejects a waiting request with the reason of its signal and serves the next one", async () => {
    const semaphore = new FairSemaphore(1);
    const first = request(semaphore, "A");
    const stop = new AbortController();
    const aborted = request(semaphore, "B", stop.signal);
    const next = request(semaphore, "B");
    await first.holders();

    stop.abort(new Error("enough"));

    expect(await aborted.requests[0]?.catch(({ message }) => message)).to.equal("enough");
    await first.release("A");
    expect(await next.holders()).to.equal("B");
  });

  it("rejects waiting and later requests once it is closed", async () => {
    const semaphore = new FairSemaphore(1);
    const waiting = request(semaphore, "AAB");
    await waiting.holders();

    semaphore.close(new Error("closed"));

    const later = request(semaphore, "C");
    for (const pending of [...waiting.requests.slice(1), ...later.requests]) {
      expect(await pending.catch(({ message }) => message)).to.equal("closed");
    }
  });
});
