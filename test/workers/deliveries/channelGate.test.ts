import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { ChannelGate, limitMs } from "../../../src/workers/deliveries/channelGate.ts";

describe("the gate of a channel", () => {
  const { signal } = new AbortController();
  const NOW = new Date();
  const later = new Date(NOW.getTime() + 1);
  /** Leave, which there must be. */
  async function leave(gate: ChannelGate, askedAt?: Date): Promise<number> {
    const pass = await gate.pass(signal, askedAt);
    return pass.kind === "open" ? pass.era : expect.fail(`closed: ${pass.reason}`);
  }

  it("lets everybody pass while nothing is wrong", async () => {
    const gate = new ChannelGate();

    expect(await Promise.all([gate.pass(signal), gate.pass(signal)])).to.deep.equal(
      Array(2).fill({ kind: "open", era: 0 }),
    );
  });

  it("says how long it is closed where that is too long to wait for, and why", async () => {
    const gate = new ChannelGate();
    gate.limit(0, 60_000, "Too many.");
    gate.limit(0, 1_000, "Too many again.");
    const limited = await gate.pass(signal);
    gate.stop(1, 300_000, "Bad token.", NOW);
    const stopped = await gate.pass(signal);

    expect(limited).to.deep.include({ kind: "closed", reason: "Too many again." });
    expect(limited).to.have.property("forMs").that.is.within(30_000, 60_000);
    expect(stopped).to.deep.include({ kind: "closed", reason: "Bad token." });
  });

  for (const [title, close] of [
    ["the credentials after a stop", (gate: ChannelGate, era: number) => void gate.stop(era, 0, "Bad token.", NOW)],
    ["the service after a limit", (gate: ChannelGate, era: number) => void gate.limit(era, 0, "Too many.")],
  ] as const) {
    it(`lets one at a time try ${title}, until it is well`, async () => {
      const gate = new ChannelGate();
      const before = await leave(gate);
      close(gate, before);
      let underWay = 0;
      let most = 0;
      const tries = Array.from({ length: 3 }, async () => {
        const era = await leave(gate);
        most = Math.max(most, ++underWay);
        await nextTurn();
        underWay--;
        gate.heard(era, false);
      });
      gate.heard(before, true); // what began before proves nothing
      await Promise.all(tries);
      const last = await leave(gate);
      gate.heard(last, true);

      expect(most).to.equal(1);
      expect(await Promise.all([leave(gate), leave(gate)])).to.deep.equal([last, last]);
    });
  }

  it("tells a stop that is new from one that goes on, and that it ends", () => {
    const gate = new ChannelGate();

    expect(gate.stop(0, 0, "Bad token.", NOW)).to.equal(true);
    expect(gate.stop(1, 0, "Bad token.", NOW), "a second stop").to.equal(false);
    expect(gate.heard(2, true)).to.equal(true);
    expect(gate.stop(0, 0, "Bad token.", NOW), "of a message from before it was proved good").to.equal(false);
    expect(gate.heard(2, true), "it had ended").to.equal(false);
  });

  it("lets a message pass that was asked for by hand after the stop, once; and all when it is well", async () => {
    const gate = new ChannelGate();
    gate.stop(0, 300_000, "Bad token.", NOW);
    const early = await gate.pass(signal, NOW);
    const era = await leave(gate, later);
    gate.stop(era, 300_000, "Bad token.", later);
    const again = await gate.pass(signal, later);
    gate.heard(await leave(gate, new Date(later.getTime() + 1)), true);

    expect([early.kind, again.kind]).to.deep.equal(["closed", "closed"]);
    expect((await gate.pass(signal)).kind).to.equal("open");
  });

  it("has a message that was asked for by hand obey a limit", async () => {
    const gate = new ChannelGate();
    gate.stop(0, 300_000, "Bad token.", NOW);
    gate.limit(1, 60_000, "Too many.");

    expect(await gate.pass(signal, later)).to.deep.include({ kind: "closed", reason: "Too many." });
  });

  it("waits twice as long for each limit in a row without a time, up to five minutes, until all is well", async () => {
    const gate = new ChannelGate();
    const inARow = Array.from({ length: 9 }, (_, era) => gate.limit(era, null, "Too many.") / 1_000);
    const atOnce = [gate.limit(8, null, "Too many.") / 1_000, gate.limit(3, null, "Too many.") / 1_000];
    gate.heard(9, true);
    const anew = gate.limit(9, null, "Too many.") / 1_000;

    for (const [i, least] of [5, 10, 20, 40, 80, 160, 300, 300, 300].entries()) {
      expect(inARow[i]).to.be.within(least, least * 1.25);
    }
    for (const seconds of atOnce) expect(seconds).to.be.within(300, 375);
    expect(anew).to.be.within(5, 6.25);
  });

  it("counts the limits that messages handed over at the same time meet as one", () => {
    const gate = new ChannelGate();

    const seconds = Array.from({ length: 10 }, () => gate.limit(0, null, "Too many.") / 1_000);

    for (const each of seconds) expect(each).to.be.within(5, 6.25);
    expect(new Set(seconds).size, "not all come back at once").to.be.greaterThan(1);
  });

  it("obeys what a service says, but for a second at least and a day at most", () => {
    const day = 24 * 3_600_000;

    expect([0, 7_000, 10 * day].map((toldMs) => limitMs(toldMs, 5))).to.deep.equal([1_000, 7_000, day]);
  });

  it("lets nobody wait on when told to stop", async () => {
    const gate = new ChannelGate();
    gate.stop(0, 0, "Bad token.", NOW);
    await leave(gate);

    expect((await gate.pass(AbortSignal.abort())).kind).to.equal("closed");
  });
});
