import { expect } from "chai";
import fc from "fast-check";
import { readStyles } from "../../../src/channels/signal/styles.ts";

describe("readStyles", () => {
  const cases: [string, string, string, string[]][] = [
    ["no marks", "plain text_with_lines - and 1 + 1", "plain text_with_lines - and 1 + 1", []],
    [
      "each mark",
      "**b** *i* ~s~ `m` ||p||",
      "b i s m p",
      ["0:1:BOLD", "2:1:ITALIC", "4:1:STRIKETHROUGH", "6:1:MONOSPACE", "8:1:SPOILER"],
    ],
    ["bold and italic at once", "***both***", "both", ["0:4:BOLD", "0:4:ITALIC"]],
    ["styles in styles", "**a *b* c**", "a b c", ["0:5:BOLD", "2:1:ITALIC"]],
    ["the same words in two styles", "~**a**~", "a", ["0:1:BOLD", "0:1:STRIKETHROUGH"]],
    ["UTF-16 units", "🚂🚂 **é🚂** *x*", "🚂🚂 é🚂 x", ["5:3:BOLD", "9:1:ITALIC"]],
    ["lines", "`a\nb`\n**c**", "a\nb\nc", ["0:3:MONOSPACE", "4:1:BOLD"]],
    ["escaped marks", "\\*a\\* \\~ \\` \\|\\| \\**b\\**", "*a* ~ ` || **b**", []],
    ["escaped marks in a style", "`a\\*b\\``", "a*b`", ["0:4:MONOSPACE"]],
    ["backslashes before anything else", "C:\\Users\\me \\\\", "C:\\Users\\me \\\\", []],
    ["a backslash before an escaped mark", "\\\\*", "\\*", []],
    ["a mark that nothing ends", "2 * 3 **b**", "2 * 3 b", ["6:1:BOLD"]],
    ["a mark that nothing ends, in a style", "**2 * 3**", "2 * 3", ["0:5:BOLD"]],
    ["a style that crosses another", "**a ~b** c~", "a ~b c~", ["0:4:BOLD"]],
    ["nothing between marks", "a **** b ~~ `` c", "a **** b ~~ `` c", []],
    ["one bar", "a | b |", "a | b |", []],
    ["nothing", "", "", []],
  ];
  for (const [title, source, text, styles] of cases) {
    it(`reads ${title}`, () => {
      expect(readStyles(source)).to.deep.equal({ text, styles });
    });
  }

  const anything = fc.string({ unit: fc.oneof(fc.constantFrom(..."*~`|\\ab \n"), fc.constant("🚂")) });

  it("keeps each character that is not a mark, and styles ranges within the text", () => {
    fc.assert(
      fc.property(anything, (source) => {
        const { text, styles } = readStyles(source);

        expect(text.replace(/[*~`|\\]/g, "")).to.equal(source.replace(/[*~`|\\]/g, ""));
        for (const style of styles) {
          const [start = -1, length = -1] = style.split(":").map(Number);
          expect(start).to.be.at.least(0);
          expect(length).to.be.at.least(1);
          expect(start + length).to.be.at.most(text.length);
        }
      }),
    );
  });

  it("keeps each escaped mark", () => {
    fc.assert(
      fc.property(anything, (text) => {
        // A backslash of the text itself would escape the next character.
        const shown = text.replaceAll("\\", "");
        const source = shown.replace(/[*~`|]/g, "\\$&\u200b");

        expect(readStyles(source)).to.deep.equal({ text: shown.replace(/[*~`|]/g, "$&\u200b"), styles: [] });
      }),
    );
  });
});
