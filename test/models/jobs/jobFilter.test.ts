import { expect } from "chai";
import fc from "fast-check";
import { beginsWith } from "../../../src/models/jobs/search/jobFilter.ts";

/** Compares strings by their UTF-8 bytes, as MongoDB does. */
const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const within = (text: string, { $gte, $lt }: ReturnType<typeof beginsWith>) =>
  compare(text, $gte) >= 0 && ($lt === undefined || compare(text, $lt) < 0);

const text = fc.string({ unit: "binary", minLength: 1 });

describe("beginsWith", () => {
  it("includes every string with the prefix", () => {
    fc.assert(
      fc.property(text, text, (prefix, rest) => {
        expect(within(prefix + rest, beginsWith(prefix))).to.equal(true);
      }),
    );
  });

  it("includes no string without the prefix", () => {
    fc.assert(
      fc.property(text, text, (prefix, other) => {
        expect(within(other, beginsWith(prefix))).to.equal(other.startsWith(prefix));
      }),
    );
  });

  const cases: [string, string | undefined][] = [
    ["ab", "ac"],
    ["a\u{10ffff}", "b"],
    ["\ud7ff", "\ue000"],
    ["\u{10ffff}", undefined],
  ];
  for (const [prefix, end] of cases) {
    it(`ends the range of ${JSON.stringify(prefix)} at ${JSON.stringify(end)}`, () => {
      expect(beginsWith(prefix).$lt).to.equal(end);
    });
  }
});
