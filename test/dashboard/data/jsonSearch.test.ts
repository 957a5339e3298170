import { expect } from "chai";
import { searchJson } from "../../../src/dashboard/data/jsonSearch.ts";

describe("search in a JSON value", () => {
  it("finds names and values in any case, in the order of the document, with their paths", () => {
    const value = { Rows: [{ note: "no ROWS" }, 7, null], "a key": { deep: true }, other: "7 rows" };

    expect(searchJson(value, "rows", 10).map(({ path }) => path)).to.deep.equal([".Rows", ".Rows[0].note", ".other"]);
    expect(searchJson(value, "true", 10).map(({ path }) => path)).to.deep.equal(['["a key"].deep']);
    expect(searchJson(value, "7", 1).map(({ path }) => path)).to.deep.equal([".Rows[1]"]);
    expect(searchJson(value, "absent", 10)).to.deep.equal([]);
  });

  it("searches a value of 20,000 levels", () => {
    let value: unknown = "the needle";
    for (let level = 0; level < 20_000; level++) value = [value];

    expect(searchJson(value, "needle", 10)).to.have.length(1);
  });
});
