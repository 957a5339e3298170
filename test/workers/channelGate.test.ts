import { expect } from "chai";
import { ChannelGate } from "../../src/workers/channelGate.ts";

describe("the gate of a channel", () => {
  const { signal } = new AbortController();

  it("lets everybody pass while nothing is wrong", async () => {
    const gate = new ChannelGate();

    expect(await Promise.all([gate.pass(signal), gate.pass(signal)])).to.deep.equal([0, 0]);
  });

  it("says how long it is closed where that is too long to wait for, and why", async () => {
    const gate = new ChannelGate();
    gate.close(60_000, "Too many.");
    gate.close(10, "Too many again.");

    expect(await gate.pass(signal)).to.be.within(59_000, 60_000);
    expect(gate.reason).to.equal("Too many again.");
  });

  it("lets one at a time try the credentials after a stop, until they are good", async () => {
    const gate = new ChannelGate();
    const before = gate.era;
    expect(gate.stop(0, "Bad token.")).to.equal(true);
    await gate.pass(signal);
    let passed = false;
    const second = gate.pass(signal).then(() => {
      passed = true;
    });

    expect(gate.heard(before, true), "what began before the stop").to.equal(false);
    expect(gate.stop(0, "Bad token."), "a second stop").to.equal(false);
    await second;
    const third = gate.pass(signal);
    expect(gate.heard(gate.era, true)).to.equal(true);
    await third;

    expect(passed).to.equal(true);
    expect(await Promise.all([gate.pass(signal), gate.pass(signal)])).to.deep.equal([0, 0]);
  });

  it("lets nobody wait on when told to stop", async () => {
    const gate = new ChannelGate();
    gate.stop(0, "Bad token.");
    await gate.pass(signal);

    expect(await gate.pass(AbortSignal.abort())).to.be.greaterThan(0);
  });
});
