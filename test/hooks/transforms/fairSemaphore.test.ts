import { expect } from "chai";
import { FairSemaphore } from "../../../src/hooks/transforms/fairSemaphore.ts";

describe("FairTurns", () => {
  const never = new AbortController().signal;

  /** Asks for places for each letter in order. Says who has one, and gives those of a letter back. */
  function ask(turns: FairSemaphore, keys: string, signal = never) {
    const held: { key: string; leave: () => void }[] = [];
    const asked = [...keys].map((key) => turns.take(key, signal).then((leave) => held.push({ key, leave })));
    const settle = () => new Promise((resolve) => setImmediate(resolve));
    return {
      asked,
      async holders() {
        await settle();
        return held.map(({ key }) => key).join("");
      },
      async leave(key: string) {
        held
          .splice(
            held.findIndex((one) => one.key === key),
            1,
          )[0]
          ?.leave();
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
  for (const [places, keys, expected] of cases) {
    it(`of ${places} places for ${keys} gives ${expected}`, async () => {
      expect(await ask(new FairSemaphore(places), keys).holders()).to.equal(expected);
    });
  }

  it("serves the keys in turn, and those of a key in order", async () => {
    const turns = ask(new FairSemaphore(1), "AAABBC");

    const order = [await turns.holders()];
    for (const key of "AABCA") order.push(await turns.leave(key));

    expect(order).to.deep.equal(["A", "A", "B", "C", "A", "B"]);
  });

  it("says how many of a key wait, and since when", async () => {
    const fair = new FairSemaphore(1);
    const before = performance.now();
    const turns = ask(fair, "AAAB");
    await turns.holders();

    const [a, b, c] = ["A", "B", "C"].map((key) => fair.line(key));
    await turns.leave("A");
    await turns.leave("B");

    expect([a?.length, b?.length, c]).to.deep.equal([2, 1, { length: 0, ms: 0 }]);
    expect(a?.ms).to.be.within(0, performance.now() - before);
    expect([fair.line("A").length, fair.line("B")]).to.deep.equal([1, { length: 0, ms: 0 }]);
  });

  it("lets one leave that waits, with the signal's reason, and serves the next", async () => {
    const fair = new FairSemaphore(1);
    const first = ask(fair, "A");
    const stop = new AbortController();
    const impatient = ask(fair, "B", stop.signal);
    const patient = ask(fair, "B");
    await first.holders();

    stop.abort(new Error("enough"));

    expect(await impatient.asked[0]?.catch(({ message }) => message)).to.equal("enough");
    await first.leave("A");
    expect(await patient.holders()).to.equal("B");
  });

  it("refuses all who wait or come once it is closed", async () => {
    const fair = new FairSemaphore(1);
    const waiting = ask(fair, "AAB");
    await waiting.holders();

    fair.close(new Error("closed"));

    const coming = ask(fair, "C");
    for (const asked of [...waiting.asked.slice(1), ...coming.asked]) {
      expect(await asked.catch(({ message }) => message)).to.equal("closed");
    }
  });
});
