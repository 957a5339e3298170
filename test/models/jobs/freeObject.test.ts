import { expect } from "chai";
import fc from "fast-check";
import { packObject, searchTerms, unpackObject } from "../../../src/models/jobs/freeObject.ts";

describe("free objects", () => {
  it("keep all their keys and values in storage", () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const sent = JSON.stringify(value);
        const kept = unpackObject(packObject("input", JSON.parse(sent)));
        expect(JSON.stringify(kept)).to.equal(sent);
      }),
    );
  });

  it("are rejected if their JSON is larger than 5 MiB", () => {
    expect(() => packObject("output", { text: "x".repeat(5 * 1024 * 1024) }))
      .to.throw("output is larger than 5242880 bytes")
      .with.property("code", "body_too_large");
  });

  const cases: [string, Record<string, unknown> | null, string[]][] = [
    ["strings, numbers and booleans", { env: "prod", retries: 3, dry: false }, ["env=prod", "retries=3", "dry=false"]],
    ["nested keys joined by dots", { git: { branch: "main", by: { id: 7 } } }, ["git.branch=main", "git.by.id=7"]],
    ["each item of a list", { tags: ["a", "b", { c: 1 }] }, ["tags=a", "tags=b", "tags.c=1"]],
    ["an empty text", { note: "" }, ["note="]],
    ["nothing if a value is null", { gone: null }, []],
    ["nothing if there is no metadata", null, []],
    ["values that are not too long", { text: "x".repeat(300), env: "prod" }, ["env=prod"]],
  ];
  for (const [title, metadata, terms] of cases) {
    it(`have the search terms of ${title}`, () => {
      expect(searchTerms(metadata)).to.deep.equal(terms);
    });
  }

  it("have search terms of the first items of a list of any length", () => {
    const list = Array.from({ length: 1_000_000 }, (_, i) => i);
    expect(searchTerms({ list })).to.have.length(100).and.to.include("list=99");
  });

  it("have at most 100 search terms", () => {
    const metadata = Object.fromEntries(Array.from({ length: 1_000 }, (_, i) => [`key${i}`, i]));
    expect(searchTerms(metadata)).to.have.length(100).and.to.include("key0=0");
  });
});
