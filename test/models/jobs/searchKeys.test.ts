import { expect } from "chai";
import fc from "fast-check";
import { nameKey, nameWords, type SearchTerm, searchTerms } from "../../../src/models/jobs/search/searchKeys.ts";

describe("searchTerms", () => {
  const cases: [string, Record<string, unknown> | null, SearchTerm[]][] = [
    ["strings, numbers and booleans", { env: "prod", retries: 3, dry: false }, ["env=prod", "retries=3", "dry=false"]],
    ["nested keys joined by dots", { git: { branch: "main", by: { id: 7 } } }, ["git.branch=main", "git.by.id=7"]],
    ["each item of a list", { tags: ["a", "b", { c: 1 }] }, ["tags=a", "tags=b", "tags.c=1"]],
    ["an empty text", { note: "" }, ["note="]],
    ["a key with an equals sign", { "a=b": "c" }, [{ key: "a=b", value: "c" }]],
    ["a value with an equals sign", { a: "b=c" }, [{ key: "a", value: "b=c" }]],
    ["a null: none", { gone: null }, []],
    ["no metadata: none", null, []],
    ["the values that are not too long", { text: "x".repeat(300), env: "prod" }, ["env=prod"]],
  ];
  for (const [title, metadata, terms] of cases) {
    it(`has the terms of ${title}`, () => {
      expect(searchTerms(metadata)).to.deep.equal(terms);
    });
  }

  it("has the terms of the first items of a list of any length", () => {
    const list = Array.from({ length: 1_000_000 }, (_, i) => i);
    expect(searchTerms({ list })).to.have.length(100).and.to.include("list=99");
  });

  it("has one term for each pair of key and value, whichever signs they contain", () => {
    const text = fc.stringMatching(/^[a=%]{0,3}$/);
    fc.assert(
      fc.property(text, text, text, text, (key, value, otherKey, otherValue) => {
        const isSame = key === otherKey && value === otherValue;
        const terms = [searchTerms({ [key]: value }), searchTerms({ [otherKey]: otherValue })];
        expect(JSON.stringify(terms[0]) === JSON.stringify(terms[1])).to.equal(isSame);
      }),
    );
  });

  it("returns at most 100 terms", () => {
    const metadata = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`key${i}`, i]));
    expect(searchTerms(metadata)).to.have.length(100).and.to.include("key0=0");
  });
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
        const letters = Array.from(whole.normalize("NFC"));
        const beginning = letters.slice(0, length % (letters.length + 1)).join("");
        expect(nameKey(whole).startsWith(nameKey(beginning))).to.equal(true);
      }),
    );
  });

  it("begins with the lower case of an earlier version only where it begins with the present key too", () => {
    fc.assert(
      fc.property(name, name, (whole, beginning) => {
        if (!nameKey(whole).startsWith(beginning.toLowerCase())) return;
        expect(nameKey(whole).startsWith(nameKey(beginning))).to.equal(true);
      }),
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
