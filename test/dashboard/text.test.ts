import { expect } from "chai";
import { firstWords, plainText, shownText, visible } from "../../src/dashboard/text.ts";

describe("texts of the dashboard", () => {
  const lines = [
    ["a plain line", "3 * 4 is 12, and a_b_c", "3 * 4 is 12, and a_b_c"],
    ["bold words", "**Nightly report** failed.", "Nightly report failed."],
    ["a stressed word", "The step *test* of *two words* failed", "The step test of two words failed"],
    ["stars of other kinds", "*.ts and *.js, a*b*c, \\*one\\*", "*.ts and *.js, a*b*c, *one*"],
    ["the head of a table", "| who | what | |---|:--| | a | b |", "| who | what |  | a | b |"],
    ["escaped signs", "**ci\\-build \\#7** failed", "ci-build #7 failed"],
    ["a heading", "## Result", "Result"],
    ["a list", "- one", "one"],
    ["a link", "See [the log](https://example.com/log) now", "See the log now"],
    ["a link that is cut", "See [the log](https://exam…", "See the log"],
    ["a word in square brackets", "a [b] c", "a [b] c"],
    ["code", "Run `npm ci`", "Run npm ci"],
    ["a sign that changes the direction", "a\u202Eb", "a▯b"],
  ] as const;
  for (const [title, line, plain] of lines) {
    it(`leave out the marks of Markdown in ${title}`, () => {
      expect(plainText(line)).to.equal(plain);
    });
  }

  it("show each sign that changes the direction of the text as a box", () => {
    expect(visible("invoice\u202Efdp.exe\u202C \u2066a\u2069")).to.equal("invoice▯fdp.exe▯ ▯a▯");
  });

  it("are shown as one line of first words without the marks of Markdown", () => {
    expect(firstWords("\n## Result\n\n- **one**\n- two")).to.equal("Result one two");
    expect(firstWords("word ".repeat(1_000)).length).to.be.at.most(300);
  });

  it("begin with their first line that is not blank", () => {
    expect(shownText("\n \n\t\n  First\n\nSecond")).to.equal("  First\n\nSecond");
  });
});
