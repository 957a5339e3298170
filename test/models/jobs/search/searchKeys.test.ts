import { expect } from "chai";
import fc from "fast-check";
import { type SearchTerm, searchTerms } from "../../../../src/models/jobs/search/searchKeys.ts";

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
