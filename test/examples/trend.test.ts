import { expect } from "chai";
import { grows, trendOf } from "../../bench/trend.ts";

/** What the figure is off by, without a trend of its own. */
const NOISE = [3, -2, -4, 5, 1, -1, 4, -5, 2, -3];
const figures = (slope: number, noise: number) => NOISE.map((off, x) => [x, 100 + slope * x + noise * off] as const);
const SPAN = NOISE.length - 1;

describe("a trend", () => {
  it("is the slope of a line where the figures lie on one", () => {
    const { slope, error } = trendOf(figures(3, 0));

    expect(slope).to.be.closeTo(3, 1e-9);
    expect(error).to.be.closeTo(0, 1e-9);
  });

  for (const [title, slope, noise, verdict] of [
    ["grows when it is steady and more than is allowed", 3, 0, true],
    ["grows when it is more than its noise explains", 3, 1, true],
    ["does not when its noise explains it", 3, 20, false],
    ["does not when it comes to less than is allowed", 0.5, 0, false],
    ["does not when it falls", -3, 0, false],
  ] as const) {
    it(title, () => {
      const trend = trendOf(figures(slope, noise));

      expect(grows(trend, SPAN, 10)).to.equal(verdict);
    });
  }
});
