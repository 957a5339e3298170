import { expect } from "chai";
import { grows, trendOf } from "../../bench/statistics.ts";

/** Noise without a trend. */
const NOISE = [3, -2, -4, 5, 1, -1, 4, -5, 2, -3];
const figures = (slope: number, noise: number) => NOISE.map((off, x) => [x, 100 + slope * x + noise * off] as const);
const SPAN = NOISE.length - 1;

describe("bench trend", () => {
  it("equals the slope of a line through all points", () => {
    const { slope, error } = trendOf(figures(3, 0));

    expect(slope).to.be.closeTo(3, 1e-9);
    expect(error).to.be.closeTo(0, 1e-9);
  });

  for (const [title, slope, noise, verdict] of [
    ["grows with a steady slope beyond the allowed growth", 3, 0, true],
    ["grows with a significant slope despite noise", 3, 1, true],
    ["does not grow when noise explains the slope", 3, 20, false],
    ["does not grow within the allowed growth", 0.5, 0, false],
    ["does not grow when it falls", -3, 0, false],
  ] as const) {
    it(title, () => {
      const trend = trendOf(figures(slope, noise));

      expect(grows(trend, SPAN, 10)).to.equal(verdict);
    });
  }
});
