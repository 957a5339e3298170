import { expect } from "chai";
import fc from "fast-check";
import { beginsWith, nameKey, nameWords } from "../../../src/models/db/nameSearch.ts";

/** Compares strings by their UTF-8 bytes, as MongoDB does. */
const compare = (a: string, b: string) => Buffer.compare(Buffer.from(a), Buffer.from(b));
const within = (text: string, { $gte, $lt }: ReturnType<typeof beginsWith>) =>
  compare(text, $gte) >= 0 && ($lt === undefined || compare(text, $lt) < 0);

const text = fc.string({ unit: "binary", minLength: 1 });
const segmenter = new Intl.Segmenter();
/** Returns the characters of a text, each with its marks: a letter without its mark is another letter. */
const characters = (text: string) => Array.from(segmenter.segment(text.normalize("NFC")), ({ segment }) => segment);

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

describe("nameKey", () => {
  /** Letters whose case depends on their place, or that have another number of letters in the other case, and accents. */
  const letter = fc.constantFrom(..."aAéÉΣσςßẞİıIiǅŉΐᾳﬁK\u0301\u0307\u0345");
  const name = fc.oneof(fc.string({ unit: letter }), fc.string({ unit: "binary" }));

  const pairs: [string, string][] = [
    ["ΟΔΟΣ", "οδος"],
    ["STRASSE", "straße"],
    ["GROẞ", "groß"],
    ["\u00e9t\u00e9", "E\u0301TE\u0301"],
    ["\u212bngstr\u00f6m", "\u00c5NGSTRO\u0308M"],
  ];
  for (const [one, other] of pairs) {
    it(`is the same for ${one} and ${other}`, () => {
      expect(nameKey(one)).to.equal(nameKey(other));
    });
  }

  it("is the same for every letter in upper and lower case", () => {
    const differing = Array.from({ length: 0x30000 }, (_, code) => String.fromCodePoint(code)).filter(
      (one) => new Set([one, one.toUpperCase(), one.toLowerCase(), nameKey(one)].map(nameKey)).size > 1,
    );
    expect(differing).to.deep.equal([]);
  });

  it("of a name begins with the key of each of the name's beginnings", () => {
    fc.assert(
      fc.property(name, fc.nat(), (whole, length) => {
        const letters = characters(whole);
        const beginning = letters.slice(0, length % (letters.length + 1)).join("");
        expect(nameKey(whole).startsWith(nameKey(beginning))).to.equal(true);
      }),
      { examples: [["\u0149\u0301", 1]] }, // A letter that becomes two, the second of which composes with the mark.
    );
  });
});

describe("nameWords", () => {
  const cases: [string, string[]][] = [
    ["Nightly report (ci/build-7)", ["nightly", "report", "ci", "build", "7"]],
    ["Straße, STRASSE & E\u0301te\u0301", ["strasse", "été"]],
    ["日本語 レポート", ["日本語", "レポート"]],
    ["हिन्दी रिपोर्ट", ["हिन्दी", "रिपोर्ट"]],
    [" -- ", []],
  ];
  for (const [name, words] of cases) {
    it(`splits ${JSON.stringify(name)} at everything but letters, digits and marks`, () => {
      expect(nameWords(name)).to.deep.equal(words);
    });
  }

  it("returns at most 32 words of at most 64 characters, and cuts none within a character", () => {
    const name = Array.from({ length: 40 }, (_, at) => `w${at}`).join(" ");

    expect(nameWords(name)).to.have.length(32);
    expect(nameWords("𝒳".repeat(70))).to.deep.equal(["𝒳".repeat(64)]);
  });
});
