import { expect } from "chai";
import { KIND_NAMES, KINDS, makePlan } from "./plan.ts";
import { seeded } from "./random.ts";

describe("fault suite plan", () => {
  const planOf = (seed: number, seconds = 300) =>
    makePlan(seeded(seed), { kinds: KIND_NAMES, seconds, maxSeconds: 20 });

  it("depends on the seed only", () => {
    const [one, again, other] = [planOf(1), planOf(1), planOf(2)];

    expect(again).to.deep.equal(one);
    expect(other).to.not.deep.equal(one);
  });

  it("contains every kind even in too short a time, and no fault beyond the maximum duration", () => {
    for (const seconds of [1, 300]) {
      const plan = planOf(3, seconds);

      expect(new Set(plan.map(({ kind }) => kind))).to.deep.equal(new Set(KIND_NAMES));
      expect(Math.max(...plan.map(({ forMs }) => forMs))).to.be.at.most(20_000);
    }
  });

  it("ends each fault of a part before the next one begins", () => {
    for (const ofPart of Map.groupBy(planOf(4), ({ kind }) => KINDS[kind].part).values()) {
      const overlaps = ofPart.some(({ atMs }, i) => {
        const before = ofPart[i - 1];
        return before && atMs < before.atMs + before.forMs;
      });

      expect(overlaps).to.equal(false);
    }
  });
});
