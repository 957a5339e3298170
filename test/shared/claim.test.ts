import { mock } from "node:test";
import { expect } from "chai";
import { LEASE_MS, underClaim } from "../../src/shared/claim.ts";

describe("underClaim", () => {
  beforeEach(() => mock.timers.enable({ apis: ["setInterval", "Date"] }));
  afterEach(() => mock.timers.reset());
  const now = () => new Date();
  /** Lets time pass, and all that can happen meanwhile. */
  async function pass(seconds: number): Promise<void> {
    for (let i = 0; i < seconds; i++) {
      mock.timers.tick(1_000);
      await new Promise((resolve) => setImmediate(resolve));
    }
  }

  it("says every two seconds that the work is under way, until it is over", async () => {
    const said: [at: number, until: number][] = [];
    const renew = async (until: Date) => said.push([Date.now(), until.getTime()]) > 0;
    const { promise: work, resolve } = Promise.withResolvers<string>();

    const done = underClaim({ renew, now }, () => work);
    await pass(5);
    resolve("result");
    const result = await done;
    await pass(60);

    expect(result).to.equal("result");
    expect(said).to.deep.equal([2_000, 4_000].map((at) => [at, at + LEASE_MS]));
  });

  it("says it once at a time where nobody answers, and ends only when that is over", async () => {
    const { promise: answer, resolve } = Promise.withResolvers<boolean>();
    let asked = 0;
    const renew = () => {
      asked++;
      return answer;
    };
    const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
    let isOver = false;

    const done = underClaim({ renew, now }, () => work).then(() => {
      isOver = true;
    });
    await pass(30);
    endWork();
    await pass(1);
    const wasOver = isOver;
    resolve(true);
    await done;

    expect(asked).to.equal(1);
    expect(wasOver).to.equal(false);
  });

  it("tells the work once that it is somebody else's now, and not where the server is away", async () => {
    const answers = [() => Promise.reject(new Error("away")), async () => false];
    const renew = () => (answers.shift() as () => Promise<boolean>)();
    const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
    const lostAt: number[] = [];

    const done = underClaim({ renew, now }, (lost) => {
      lost.addEventListener("abort", () => lostAt.push(Date.now()));
      return work;
    });
    await pass(20);
    endWork();
    await done;

    expect(lostAt).to.deep.equal([4_000]);
  });
});
