import { setImmediate as nextTurn } from "node:timers/promises";
import { expect } from "chai";
import { ChannelLimiter, limitMs } from "../../../src/workers/deliveries/channelLimiter.ts";

describe("ChannelLimiter", () => {
  const { signal } = new AbortController();
  const NOW = new Date();
  const later = new Date(NOW.getTime() + 1);
  /** Returns the epoch of a message that must be admitted. */
  async function admit(limiter: ChannelLimiter, retriedAt?: Date): Promise<number> {
    const admission = await limiter.admit(signal, retriedAt);
    return admission.kind === "admitted" ? admission.epoch : expect.fail(`refused: ${admission.reason}`);
  }

  it("admits every message while the channel works", async () => {
    const limiter = new ChannelLimiter();

    expect(await Promise.all([limiter.admit(signal), limiter.admit(signal)])).to.deep.equal(
      Array(2).fill({ kind: "admitted", epoch: 0 }),
    );
  });

  it("refuses a message with the remaining time and the reason when the closure is too long to wait for", async () => {
    const limiter = new ChannelLimiter();
    limiter.limit(0, 60_000, "Too many.");
    limiter.limit(0, 1_000, "Too many again.");
    const limited = await limiter.admit(signal);
    limiter.stop(1, 300_000, "Bad token.", NOW);
    const stopped = await limiter.admit(signal);

    expect(limited).to.deep.include({ kind: "refused", reason: "Too many again." });
    expect(limited).to.have.property("forMs").that.is.within(30_000, 60_000);
    expect(stopped).to.deep.include({ kind: "refused", reason: "Bad token." });
  });

  for (const [title, close] of [
    ["a stop", (limiter: ChannelLimiter, epoch: number) => void limiter.stop(epoch, 0, "Bad token.", NOW)],
    ["a limit", (limiter: ChannelLimiter, epoch: number) => void limiter.limit(epoch, 0, "Too many.")],
  ] as const) {
    it(`admits one message at a time after ${title}, until one shows that the channel works`, async () => {
      const limiter = new ChannelLimiter();
      const before = await admit(limiter);
      close(limiter, before);
      let inFlight = 0;
      let most = 0;
      const tries = Array.from({ length: 3 }, async () => {
        const epoch = await admit(limiter);
        most = Math.max(most, ++inFlight);
        await nextTurn();
        inFlight--;
        limiter.report(epoch, false);
      });
      limiter.report(before, true); // a message admitted before the closure says nothing
      await Promise.all(tries);
      const last = await admit(limiter);
      limiter.report(last, true);

      expect(most).to.equal(1);
      expect(await Promise.all([admit(limiter), admit(limiter)])).to.deep.equal([last, last]);
    });
  }

  it("reports whether a stop is new and whether a result ends it", () => {
    const limiter = new ChannelLimiter();

    expect(limiter.stop(0, 0, "Bad token.", NOW)).to.equal(true);
    expect(limiter.stop(1, 0, "Bad token.", NOW), "a second stop").to.equal(false);
    expect(limiter.report(2, true)).to.equal(true);
    expect(limiter.stop(0, 0, "Bad token.", NOW), "of a message from before it was proved good").to.equal(false);
    expect(limiter.report(2, true), "it had ended").to.equal(false);
  });

  it("admits a message that was retried by hand after the stop once, and every message when the channel works again", async () => {
    const limiter = new ChannelLimiter();
    limiter.stop(0, 300_000, "Bad token.", NOW);
    const early = await limiter.admit(signal, NOW);
    const epoch = await admit(limiter, later);
    limiter.stop(epoch, 300_000, "Bad token.", later);
    const again = await limiter.admit(signal, later);
    limiter.report(await admit(limiter, new Date(later.getTime() + 1)), true);

    expect([early.kind, again.kind]).to.deep.equal(["refused", "refused"]);
    expect((await limiter.admit(signal)).kind).to.equal("admitted");
  });

  it("refuses a message that was retried by hand while a limit lasts", async () => {
    const limiter = new ChannelLimiter();
    limiter.stop(0, 300_000, "Bad token.", NOW);
    limiter.limit(1, 60_000, "Too many.");

    expect(await limiter.admit(signal, later)).to.deep.include({ kind: "refused", reason: "Too many." });
  });

  it("doubles the backoff for each consecutive limit without a time, up to five minutes, until the channel works again", async () => {
    const limiter = new ChannelLimiter();
    const inARow = Array.from({ length: 9 }, (_, epoch) => limiter.limit(epoch, null, "Too many.") / 1_000);
    const immediately = [limiter.limit(8, null, "Too many.") / 1_000, limiter.limit(3, null, "Too many.") / 1_000];
    limiter.report(9, true);
    const anew = limiter.limit(9, null, "Too many.") / 1_000;

    for (const [i, least] of [5, 10, 20, 40, 80, 160, 300, 300, 300].entries()) {
      expect(inARow[i]).to.be.within(least, least * 1.25);
    }
    for (const seconds of immediately) expect(seconds).to.be.within(300, 375);
    expect(anew).to.be.within(5, 6.25);
  });

  it("counts the limits of messages that were admitted in one epoch once", () => {
    const limiter = new ChannelLimiter();

    const seconds = Array.from({ length: 10 }, () => limiter.limit(0, null, "Too many.") / 1_000);

    for (const each of seconds) expect(each).to.be.within(5, 6.25);
    expect(new Set(seconds).size, "jitter differs").to.be.greaterThan(1);
  });

  it("obeys the time that the service asks for, between one second and one day", () => {
    const day = 24 * 3_600_000;

    expect([0, 7_000, 10 * day].map((retryAfterMs) => limitMs(retryAfterMs, 5))).to.deep.equal([1_000, 7_000, day]);
  });

  it("refuses a message at once when its signal is aborted", async () => {
    const limiter = new ChannelLimiter();
    limiter.stop(0, 0, "Bad token.", NOW);
    await admit(limiter);

    expect((await limiter.admit(AbortSignal.abort())).kind).to.equal("refused");
  });
});
