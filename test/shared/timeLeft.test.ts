import { expect } from "chai";
import { duration } from "../../src/dashboard/time.ts";
import { type ProgressPoint, roundEstimate, timeLeft, withPoint } from "../../src/shared/timeLeft.ts";

/** Returns points at these seconds and percentages. */
const points = (...pairs: [seconds: number, progress: number][]): ProgressPoint[] =>
  pairs.map(([seconds, progress]) => ({ at: seconds * 1_000, progress }));

describe("the time that a job still takes", () => {
  const cases: [string, ProgressPoint[], now: number, left: number | null][] = [
    ["is the rest at the rate of a steady job", points([0, 0], [30, 10], [60, 20]), 60, 240],
    ["falls between two reports", points([0, 0], [30, 10], [60, 20]), 75, 225],
    ["is known for a job that began before the page was opened", points([900, 60], [930, 65], [960, 70]), 960, 180],
    ["allows for a rate that varies a little", points([0, 0], [30, 12], [60, 20], [90, 31], [120, 40]), 120, 180],
    ["is unknown while a job accelerates", points([0, 0], [30, 5], [60, 20]), 60, null],
    ["is unknown while a job slows down", points([0, 0], [30, 15], [60, 20]), 60, null],
    ["is unknown for a job that is stuck at its progress", points([0, 10], [30, 10], [60, 10]), 60, null],
    ["is unknown after a step has started again", points([0, 0], [30, 10], [60, 20], [90, 20], [120, 20]), 120, null],
    ["is unknown once a job is silent", points([0, 0], [30, 10], [60, 20]), 151, null],
    ["is unknown once the estimate is over", points([0, 0], [60, 45], [120, 90]), 140, null],
    ["is unknown at 0 %", points([0, 0], [30, 0], [60, 0]), 60, null],
    ["is unknown at 100 %", points([0, 0], [30, 50], [60, 100]), 60, null],
    ["is unknown without reports", [], 60, null],
    ["is unknown after two reports", points([0, 10], [60, 20]), 60, null],
    ["is unknown after less than 20 seconds", points([0, 0], [5, 10], [10, 20]), 10, null],
  ];
  for (const [title, given, now, left] of cases) {
    it(title, () => {
      const estimated = timeLeft(given, now * 1_000);

      expect(estimated && Math.round(estimated / 1_000)).to.equal(left);
    });
  }

  it("counts the reports of the last ten minutes, each once, and none that is late", () => {
    let kept: readonly ProgressPoint[] = [];
    for (const point of points([0, 0], [300, 5], [300, 5], [200, 4], [700, 50], [701, 50]))
      kept = withPoint(kept, point);

    expect(kept).to.deep.equal(points([300, 5], [700, 50], [701, 50]));
  });

  const rounded = [
    [1, "10 s"],
    [36, "40 s"],
    [59, "1 min"],
    [220, "4 min"],
    [600, "10 min"],
    [4_100, "1 h 10 min"],
    [32_000, "9 h"],
    [400_000, "5 d"],
  ] as const;
  for (const [seconds, text] of rounded) {
    it(`shows ${seconds} s as ${text}`, () => {
      expect(duration(roundEstimate(seconds * 1_000))).to.equal(text);
    });
  }
});
