import { expect } from "chai";
import { axisEnd, durationAxisEnd } from "../../src/dashboard/data/chart.ts";
import { duration } from "../../src/dashboard/time.ts";

describe("the axis of a chart", () => {
  it("ends at a round number", () => {
    expect([0, 1, 3, 20, 21, 700].map(axisEnd)).to.deep.equal([1, 1, 5, 20, 50, 1_000]);
  });

  it("ends at a duration that is read at a glance", () => {
    const ends = [0.02, 3, 41, 41 * 60, 61 * 60, 20 * 3_600, 3 * 86_400].map((max) =>
      duration(durationAxisEnd(max) * 1_000),
    );
    expect(ends).to.deep.equal(["1.0 s", "5.0 s", "1 min", "1 h", "2 h", "1 d", "5 d"]);
  });
});
