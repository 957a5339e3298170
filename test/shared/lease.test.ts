import { expect } from "chai";
import sinon from "sinon";
import { withLease } from "../../src/shared/lease.ts";

const LEASE = { durationMs: 15_000, renewEveryMs: 2_000, acquireEveryMs: 2_000 };

describe("withLease", () => {
  let time: sinon.SinonFakeTimers;
  beforeEach(() => {
    time = sinon.useFakeTimers({ toFake: ["setInterval", "clearInterval", "Date", "performance"] });
  });
  afterEach(() => time.restore());
  const now = () => new Date();
  const pass = (seconds: number) => time.tickAsync(seconds * 1_000);

  it("renews the lease every renewEveryMs until the work is over", async () => {
    const renewals: [at: number, until: number][] = [];
    const renew = async (until: Date) => renewals.push([Date.now(), until.getTime()]) > 0;
    const { promise: work, resolve } = Promise.withResolvers<string>();

    const done = withLease({ renew, now }, LEASE, () => work);
    await pass(5);
    resolve("result");
    const result = await done;
    await pass(60);

    expect(result).to.equal("result");
    expect(renewals).to.deep.equal([2_000, 4_000].map((at) => [at, at + LEASE.durationMs]));
  });

  it("never renews twice at a time, and resolves only when a pending renewal has ended", async () => {
    const { promise: answer, resolve } = Promise.withResolvers<boolean>();
    let asked = 0;
    const renew = () => {
      asked++;
      return answer;
    };
    const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
    let isOver = false;

    const done = withLease({ renew, now }, LEASE, () => work).then(() => {
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

  it("aborts the work's signal before the lease expires by the own clock if it is strict, also while a renewal hangs", async () => {
    for (const isStrict of [true, false]) {
      let asked = 0;
      const renew = () => (asked++ === 0 ? Promise.resolve(true) : new Promise<boolean>(() => {}));
      const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
      const began = Date.now();
      const lostAt: number[] = [];

      void withLease({ renew, now }, { ...LEASE, isStrict }, (lost) => {
        lost.addEventListener("abort", () => lostAt.push(Date.now() - began));
        return work;
      });
      await pass(60);
      endWork();

      expect(lostAt).to.deep.equal(isStrict ? [16_000] : []); // renewed at 2 s, held until 17 s
    }
  });

  it("aborts the work's signal when the lease is lost, and not while the server is down", async () => {
    const answers = [() => Promise.reject(new Error("away")), async () => false];
    const renew = () => (answers.shift() as () => Promise<boolean>)();
    const { promise: work, resolve: endWork } = Promise.withResolvers<void>();
    const lostAt: number[] = [];

    const done = withLease({ renew, now }, LEASE, (lost) => {
      lost.addEventListener("abort", () => lostAt.push(Date.now()));
      return work;
    });
    await pass(20);
    endWork();
    await done;

    expect(lostAt).to.deep.equal([4_000]);
  });
});
