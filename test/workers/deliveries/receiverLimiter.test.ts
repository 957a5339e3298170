import { expect } from "chai";
import { type Permission, ReceiverLimiter } from "../../../src/workers/deliveries/receiverLimiter.ts";

const TIMINGS = { timeoutMs: 20_000, minSlotMs: 5, maxSlotMs: 60_000 };

describe("ReceiverLimiter", () => {
  let limiter: ReceiverLimiter;
  beforeEach(() => {
    limiter = new ReceiverLimiter(TIMINGS);
  });

  /** Asks for permits until one is refused. @returns the number of permits */
  function takeAll(name: string): number {
    for (let taken = 0; ; taken++) if (limiter.acquire(name).kind === "refused") return taken;
  }
  const pauseOf = (permission: Permission) =>
    permission.kind === "refused" ? permission.forMs : expect.fail("it was permitted");

  it("begins with two permits and doubles them with each prompt answer, up to ten", () => {
    expect(takeAll("a")).to.equal(2);

    const sizes = [2, 4, 8, 10].map((active) => {
      for (let i = 0; i < active; i++) limiter.release("a", { isAnswered: true, durationMs: 10 });
      return takeAll("a");
    });

    expect(sizes.at(-1)).to.equal(10);
  });

  it("leaves one permit to a receiver that does not answer, or answers slowly, until it answers promptly", () => {
    for (const [isAnswered, durationMs] of [
      [false, 20_000],
      [false, 5],
      [true, 15_000],
    ] as const) {
      limiter = new ReceiverLimiter(TIMINGS);
      expect(takeAll("a")).to.equal(2);
      limiter.release("a", { isAnswered, durationMs });
      limiter.release("a", { isAnswered, durationMs });
      expect(takeAll("a"), `${isAnswered} after ${durationMs} ms`).to.equal(1);
    }
    limiter.release("a", { isAnswered: true, durationMs: 10 });
    expect(takeAll("a")).to.equal(2);
  });

  it("ignores a permit without a request", () => {
    takeAll("a");
    limiter.release("a", undefined);

    expect(takeAll("a")).to.equal(1);
  });

  it("counts each receiver on its own", () => {
    takeAll("a");

    expect(takeAll("b")).to.equal(2);
  });

  it("spreads the deliveries to a receiver by the duration of its last request, up to a minute", () => {
    limiter.acquire("a");
    limiter.release("a", { isAnswered: false, durationMs: 20_000 });
    limiter.acquire("a");

    const pauses = Array.from({ length: 1_000 }, () => pauseOf(limiter.acquire("a")));

    expect(Math.round((pauses[0] as number) / 1_000)).to.equal(20);
    expect(Math.round((pauses[1] as number) / 1_000)).to.equal(40);
    const rest = pauses.slice(3);
    expect(Math.min(...rest)).to.be.at.least(30_000);
    expect(Math.max(...rest)).to.be.at.most(60_000);
    expect(new Set(rest).size).to.be.above(900);
  });

  it("lets deliveries to a fast receiver return soon", () => {
    takeAll("a");
    limiter.release("a", { isAnswered: true, durationMs: 10 });
    takeAll("a");

    expect(pauseOf(limiter.acquire("a"))).to.be.below(50);
  });
});
