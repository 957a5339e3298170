import { expect } from "chai";
import fc from "fast-check";
import { calculateJobProgress } from "../../../../src/models/jobs/reports/reportStep.ts";

describe("calculateJobProgress", () => {
  const cases: [string, Parameters<typeof calculateJobProgress>[0], number | undefined][] = [
    ["the start of a range at 0", { progress: 0, jobProgressStart: 20, jobProgressEnd: 60 }, 20],
    ["the middle of a range at 50", { progress: 50, jobProgressStart: 20, jobProgressEnd: 60 }, 40],
    ["the end of a range at 100", { progress: 100, jobProgressStart: 20, jobProgressEnd: 60 }, 60],
    ["exactly 100 where the sum is 33.3 + 66.7", { progress: 100, jobProgressStart: 33.3, jobProgressEnd: 100 }, 100],
    [
      "exactly 100 where floating point would fall short",
      { progress: 100, jobProgressStart: 16.1, jobProgressEnd: 100 },
      100,
    ],
    ["100 for a range of no width at the end", { progress: 0, jobProgressStart: 100, jobProgressEnd: 100 }, 100],
    ["less than 100 just below the end", { progress: 99.999, jobProgressStart: 0, jobProgressEnd: 100 }, 99.999],
    ["no ragged decimals", { progress: 10, jobProgressStart: 0.1, jobProgressEnd: 0.3 }, 0.12],
    ["nothing without progress", { jobProgressStart: 0, jobProgressEnd: 100 }, undefined],
    ["nothing without a start", { progress: 50, jobProgressEnd: 100 }, undefined],
    ["nothing without an end", { progress: 50, jobProgressStart: 0 }, undefined],
  ];
  for (const [title, report, expected] of cases) {
    it(`returns ${title}`, () => {
      expect(calculateJobProgress(report)).to.equal(expected);
    });
  }

  const percent = fc.double({ min: 0, max: 100, noNaN: true });

  it("returns 100 at the end of any range that ends at 100", () => {
    fc.assert(
      fc.property(percent, (jobProgressStart) => {
        expect(calculateJobProgress({ progress: 100, jobProgressStart, jobProgressEnd: 100 })).to.equal(100);
      }),
    );
  });

  it("stays in the range, except for rounding", () => {
    fc.assert(
      fc.property(percent, percent, percent, (progress, a, b) => {
        const [start, end] = [Math.min(a, b), Math.max(a, b)];
        const calculated = calculateJobProgress({ progress, jobProgressStart: start, jobProgressEnd: end });
        expect(calculated).to.be.within(start - 1e-9, end + 1e-9);
      }),
    );
  });

  it("never decreases while the step's progress increases", () => {
    fc.assert(
      fc.property(percent, percent, percent, percent, (p, q, a, b) => {
        const range = { jobProgressStart: Math.min(a, b), jobProgressEnd: Math.max(a, b) };
        const earlier = calculateJobProgress({ progress: Math.min(p, q), ...range });
        const later = calculateJobProgress({ progress: Math.max(p, q), ...range });
        expect(later).to.be.at.least(earlier as number);
      }),
    );
  });
});
