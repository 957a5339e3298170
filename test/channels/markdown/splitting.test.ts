import { expect } from "chai";
import fc from "fast-check";
import { parser } from "../../../src/channels/markdown/parser.ts";
import { toParts } from "../../../src/channels/markdown/parts.ts";
import type { Dialect, TextStyle } from "../../../src/channels/markdown/style.ts";
import { sanitizeText } from "../../../src/shared/text/sanitizeText.ts";
import { runs } from "../../support/random.ts";
import { anyText, plainTexts, style, visible } from "./shown.ts";

const texts = (markdown: string, limit: number, dialect: Dialect = "plain", unit: TextStyle["unit"] = "utf16") =>
  toParts(markdown, style(dialect, limit, unit)).map(({ text }) => text);

describe("toParts for several messages", () => {
  const cases: [string, number, string, string[]][] = [
    ["at paragraphs", 14, "One. Two.\n\nThree. Four.", ["One. Two.", "Three. Four."]],
    ["only where it must", 24, "One. Two.\n\nThree. Four.", ["One. Two.\n\nThree. Four."]],
    ["at sentences", 14, "One two. Three four. Five.", ["One two.", "Three four.", "Five."]],
    ["at lines of a text", 14, "One two three\nfour five six", ["One two three", "four five six"]],
    ["at words", 9, "one two three four", ["one two", "three", "four"]],
    ["at graphemes", 3, "aé\u0301éb", ["aé\u0301", "éb"]],
    ["not within an emoji", 12, "👩‍👩‍👧‍👦👍🏽", ["👩‍👩‍👧‍👦", "👍🏽"]],
    ["within one where it is too long", 4, "👩‍👩‍👧", ["👩‍", "👩‍", "👧"]],
    ["at code points where there is room for one only", 1, "a👍b", ["a", "👍", "b"]],
    ["at lines of code", 12, "```\none\n  two\n    three\n```", ["one\n  two", "    three"]],
    ["at blocks of code, if they fit", 12, "text\n\n```\none\ntwo\n```", ["text", "one\ntwo"]],
    [
      "before a heading that would be the last line",
      13,
      "One two.\n\n# H\n\nThree four",
      ["One two.", "H\n\nThree four"],
    ],
    ["between items", 12, "- one\n- two\n- three", ["• one\n• two", "• three"]],
    ["without a bullet for the rest of an item", 12, "- One two. Three four.", ["• One two.", "Three four."]],
    ["with the number of each item", 12, "9. one two\n10. three", ["9. one two", "10. three"]],
    ["with the mark of a quote", 12, "> One two. Three four.", ["> One two.", "> Three", "> four."]],
    ["without a rule between them", 6, "one\n\n---\n\ntwo", ["one", "two"]],
    ["through a long address", 12, "[x](https://a.bc/defgh)", ["x", "(https://a.b", "c/defgh)"]],
    ["without the marks around, where they leave no room", 2, "> a b", [">", "a", "b"]],
    ["with an item's number by itself, if it must be", 2, "42.", ["42", "."]],
  ];
  for (const [where, limit, markdown, expected] of cases) {
    it(`splits ${where}`, () => {
      expect(texts(markdown, limit)).to.deep.equal(expected);
    });
  }

  it("fills a message that is at most half full with the beginning of a long text", () => {
    expect(texts("One.\n\nTwo three. Four five. Six seven.", 24)).to.deep.equal([
      "One.\n\nTwo three.",
      "Four five. Six seven.",
    ]);
  });

  it("closes code in one message and opens it in the next, with its language", () => {
    const parts = texts("Text:\n\n```ts\none();\ntwo();\nthree();\n```", 24, "markdown");

    expect(parts).to.deep.equal(["Text:\n\n```ts\none();\n```", "```ts\ntwo();\n```", "```ts\nthree();\n```"]);
  });

  it("closes marks in one message and opens them in the next", () => {
    expect(texts("**One *two. Three* four.**", 18, "markdown")).to.deep.equal(["**One *two.***", "***Three* four.**"]);
  });

  const units: [TextStyle["unit"], number, string[]][] = [
    ["utf16", 4, ["é漢👍", "é漢👍"]],
    ["runes", 4, ["é漢👍é", "漢👍"]],
    ["bytes", 9, ["é漢👍", "é漢👍"]],
  ];
  for (const [unit, limit, expected] of units) {
    it(`counts in ${unit}`, () => {
      expect(texts("é漢👍é漢👍", limit, "plain", unit)).to.deep.equal(expected);
    });
  }

  const ranges = (text: string) => text.match(/<(?!\/|code class)/g)?.length ?? 0;
  const many: [string, string, number[]][] = [
    ["links of a paragraph", "[l7](https://example.com/7)\n".repeat(250), [100, 100, 50]],
    ["lines in bold", "**a**\n".repeat(150), [100, 50]],
    ["items", "- **a** `b` *c*\n".repeat(50), [99, 51]],
    ["blocks of code", "```js\na\n```\n\n".repeat(120), [100, 20]],
    ["quotes with code", "> `a`\n\nb\n\n".repeat(60), [100, 20]],
    ["exactly a hundred", "*a* ".repeat(100), [100]],
  ];
  for (const [what, markdown, expected] of many) {
    it(`begins a new Telegram message after a hundred formatted ranges: ${what}`, () => {
      expect(texts(markdown, 4096, "telegram-html").map(ranges)).to.deep.equal(expected);
    });
  }

  it("writes all of many ranges in Markdown in one message", () => {
    expect(texts("**a** ".repeat(150), 4096, "discord")).to.have.length(1);
  });

  it("leaves no code block open and writes all code once", () => {
    const dialects = fc.constantFrom<Dialect>("markdown", "slack", "discord", "whatsapp");
    fc.assert(
      fc.property(anyText, fc.integer({ min: 30, max: 500 }), dialects, (code, limit, dialect) => {
        const markdown = `before\n\n~~~~~~~~ts\nx${code.replaceAll("~~~", "")}\n~~~~~~~~\n\nafter`;
        const tokens = texts(markdown, limit, dialect).flatMap((part) => parser.parse(part, {}));

        const blocks = tokens.filter(({ type }) => type === "fence").map(({ content }) => content);
        expect(visible(blocks.join(""))).to.equal(visible(sanitizeText(`x${code}`)));
        expect(tokens.findLast(({ type }) => type === "inline")?.content).to.equal("after");
      }),
      runs(1000),
    );
  });
});

describe("splitPlainText", () => {
  const cases: [string, number, string, string[]][] = [
    ["a short text as it is", 99, "  *a*\n\n\n  [b](c)\n", ["  *a*\n\n\n  [b](c)"]],
    ["at paragraphs", 12, "One. Two.\n\nThree.", ["One. Two.", "Three."]],
    ["at the last paragraph that fits", 12, "1\n\n2. 3\n\n4 5 6 7", ["1\n\n2. 3", "4 5 6 7"]],
    ["at sentences", 12, "One. Two. Three four.", ["One. Two.", "Three four."]],
    ["at words", 8, "one two three", ["one two", "three"]],
    ["with the indentation of lines", 8, "one two\n  three", ["one two", "  three"]],
    ["nothing where there is nothing to see", 8, " \n\u200b", []],
  ];
  for (const [what, limit, text, expected] of cases) {
    it(`returns ${what}`, () => {
      expect(plainTexts(text, style("plain", limit))).to.deep.equal(expected);
    });
  }

  it("mentions nobody", () => {
    expect(plainTexts("@all <!here>", style("slack"))).to.deep.equal(["@\u200ball <\u200b!here>"]);
  });
});

const MIB = 1024 * 1024;

describe("toParts for very long replies", () => {
  const units = [
    "[",
    "*",
    ">",
    "`",
    "*a _b ",
    "![",
    "[a](",
    "<a ",
    "http://a*",
    "://",
    "a\n\n",
    "- a\n",
    "a|b\n",
    "\u0301",
    "👩‍",
  ];
  for (const unit of units) {
    it(`ends with ${JSON.stringify(unit)} for a quarter of a MiB`, () => {
      const markdown = `${unit.repeat(MIB / 4 / unit.length)} end`;

      expect(toParts(markdown, style("telegram-html")).at(-1)?.plain).to.match(/end$/);
    });
  }
});
