import { expect } from "chai";
import { cellsAt, namesAt, requireSame, withRest, withRows } from "../script/docPage.ts";

const PAGE = `# Page

## First

| name | is |
|---|---|
| \`a\`, \`b\` | old |

## Second

| name | is |
|---|---|
| \`c\` | kept |
`;

describe("generated parts of a page", () => {
  it("replaces the rows of the first table after a place, and nothing else", () => {
    expect(withRows(PAGE, "## Second", ["| `d` | new |", "| `e` | new |"])).to.equal(
      PAGE.replace("| `c` | kept |", "| `d` | new |\n| `e` | new |"),
    );
    expect(withRows(PAGE, "| name | is |", [])).to.equal(PAGE.replace("| `a`, `b` | old |\n", ""));
  });

  it("reads the cells and the names of a table", () => {
    expect(cellsAt(PAGE, "## First")).to.deep.equal([["`a`, `b`", "old"]]);
    expect(namesAt(PAGE, "## First")).to.deep.equal(["a", "b"]);
  });

  it("replaces everything after a place", () => {
    expect(withRest(PAGE, "## First\n", "rest\n")).to.equal("# Page\n\n## First\nrest\n");
  });

  it("rejects a page without the place or its table", () => {
    expect(() => withRest(PAGE, "## Third", "")).to.throw('The page lacks the text "## Third"');
    expect(() => withRows(PAGE, "| `c` |", [])).to.throw('The page has no table after "| `c` |"');
  });

  it("names the rows that a table lacks or has too many", () => {
    expect(() => requireSame("The table", ["a"], ["a", "b"])).to.throw("The table lacks b: add a row to the page.");
    expect(() => requireSame("The table", ["a", "b"], ["a"])).to.throw("The table has b, which no longer exist");
  });
});
