import { expect } from "chai";
import fc from "fast-check";
import { backoff } from "../../src/shared/backoff.ts";
import { runs } from "../support/random.ts";

describe("backoff", () => {
  it("doubles the delay with each failure up to its maximum", () => {
    const delayMs = backoff({ initialMs: 50, maxMs: 1_000 });

    expect([1, 2, 3, 4, 5, 6, 1_000].map(delayMs)).to.deep.equal([50, 100, 200, 400, 800, 1_000, 1_000]);
  });

  it("takes no failure for the first one", () => {
    expect(backoff({ initialMs: 50, maxMs: 1_000 })(0)).to.equal(50);
  });

  it("adds at most the share of the delay that is jitter", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 100 }), fc.double({ min: 0, max: 1, noNaN: true }), (failures, jitter) => {
        const options = { initialMs: 10, maxMs: 5_000 };
        const full = backoff(options)(failures);
        const delayMs = backoff({ ...options, jitter })(failures);
        expect(delayMs).to.be.at.least(full);
        expect(delayMs).to.be.at.most(full * (1 + jitter) + 1e-9);
      }),
      runs(200),
    );
  });
});
