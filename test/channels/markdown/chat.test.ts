import { expect } from "chai";
import fc from "fast-check";
import { toParts } from "../../../src/channels/markdown/parts.ts";
import { runs } from "../../support/random.ts";
import { anyMarkdown, style, visible } from "./shown.ts";

describe("toParts for WhatsApp", () => {
  const cases: [string, string, string][] = [
    ["marks", "**b** *i* ~~s~~ `c`", "*b* _i_ ~s~ `c`"],
    ["marks within marks", "**b *bi***", "*b _bi_*"],
    ["marks line by line", "**one\ntwo**", "*one*\n*two*"],
    ["code without marks around it", "**a `b`**", "*a* `b`"],
    ["code without marks before it", "**`b` a**", "`b` *a*"],
    ["code alone without marks", "**`a` `b`**", "`a` `b`"],
    ["marks inside words as plain text", "foo**bar**baz *a*b c~~d~~", "foobarbaz ab cd"],
    ["marks that meet as plain text", "**a***b* x", "ab x"],
    ["marks beside signs", "(**a**), **b**: “*c*” **d**!", "(*a*), *b*: “_c_” *d*!"],
    ["marks beside letters of other scripts as plain text", "**真，**她 *é*ß", "真，她 éß"],
    ["marks within marks at a word", "***a** b* x**y *z***", "_*a* b_ xy _z_"],
    ["marks around their own sign as plain text", "**a \\* b** _c_", "a * b _c_"],
    ["a heading", "# One", "*One*"],
    ["a block of code", "```ts\na\n\n  b\n```", "```\na\n\n  b\n```"],
    ["a link", "[x](https://a.bc)", "x: https://a.bc"],
    ["a link that shows its address", "<https://a.bc> [https://d.ef](https://d.ef)", "https://a.bc https://d.ef"],
    ["an image", "![x](https://a.bc/d.png)", "x: https://a.bc/d.png"],
    ["lists", "- one\n  - two\n\n3. three", "- one\n  - two\n\n3. three"],
    ["a quote", "> one\n> two", "> one\n> two"],
    ["a table", "a|b\n-|-\nc|d", "```\na | b\nc | d\n```"],
    ["raw HTML as text", "<b>x</b>", "<b>x</b>"],
  ];
  for (const [what, markdown, expected] of cases) {
    it(`writes ${what}`, () => {
      expect(toParts(markdown, style("whatsapp")).map(({ text }) => text)).to.deep.equal([expected]);
    });
  }

  it("loses no text when it leaves out marks", () => {
    const words = fc.array(fc.constantFrom("a", "1", " ", "真", ".", "**", "*", "~~", "`c`", "\n"), { maxLength: 30 });
    fc.assert(
      fc.property(words, (parts) => {
        for (const { text, plain } of toParts(parts.join(""), style("whatsapp"))) {
          const withoutSigns = (shown: string) => visible(shown).replace(/[-•*_~`]/g, "");
          expect(withoutSigns(text)).to.equal(withoutSigns(plain));
        }
      }),
      runs(1000),
    );
  });

  it("takes time linear in the number of marks", () => {
    expect(toParts("**a**b *c* ".repeat(20_000), style("whatsapp")).at(-1)?.plain).to.match(/c$/);
  });
});

/** Returns the text that signal-cli-rest-api 0.100 shows for a styled text, without styles. */
function shownOfStyled(text: string): string {
  return text.replace(/\\(\*{1,3}|\|\||[~`|])|\*{1,3}|\|\||[~`]/g, (_, escaped?: string) => escaped ?? "");
}

describe("toParts for Signal", () => {
  const cases: [string, string, string][] = [
    ["marks", "**b** *i* ~~s~~ `c`", "**b** *i* ~s~ `c`"],
    ["marks that meet", "***bi***", "*\u200b**bi**\u200b*"],
    ["literal marks", "2 \\* 3 ~ 4 | 5 ||6|| \\`7", "2 \\* 3 \\~ 4 \\| 5 \\|\\|6\\|\\| \\`7"],
    ["literal marks in code", "`a*b`", "`a\\*b`"],
    ["a backslash before a mark", "a\\\\**b**", "a\\\u200b**b**"],
    ["a backslash at the end of code", "`a\\`", "`a\\\u200b`"],
    ["a literal mark before a mark", "\\***b**", "\\*\u200b**b**"],
    ["a heading", "# One", "**One**"],
    ["a block of code", "```ts\na\nb\n```", "`a\nb`"],
    ["a link", "[x](https://a.bc)", "x (https://a.bc)"],
    ["lists", "- one\n  - two\n\n3. three", "• one\n  • two\n\n3. three"],
    ["a quote", "> one\n> two", "> one\n> two"],
    ["a table", "a|b\n-|-\nc|d", "`a \\| b\nc \\| d`"],
  ];
  for (const [what, markdown, expected] of cases) {
    it(`writes ${what}`, () => {
      expect(toParts(markdown, style("signal")).map(({ text }) => text)).to.deep.equal([expected]);
    });
  }

  it("keeps each mark that is meant as text", () => {
    fc.assert(
      fc.property(anyMarkdown, fc.integer({ min: 40, max: 5000 }), (markdown, limit) => {
        for (const { text, plain } of toParts(markdown, style("signal", limit))) {
          expect(visible(shownOfStyled(text))).to.equal(visible(plain));
        }
      }),
      runs(1000),
    );
  });
});

describe("toParts for plain text", () => {
  const cases: [string, string, string][] = [
    ["marks", "**b** *i* ~~s~~ `c`", "b i s c"],
    ["a link", "[x](https://a.bc)", "x (https://a.bc)"],
    ["a link with a title", '[x](https://a.bc "Title")', "x (https://a.bc) (Title)"],
    ["a link of no label", "[](https://a.bc)", "https://a.bc"],
    ["an address once", "<https://a.bc> <d@e.fg>", "https://a.bc d@e.fg"],
    ["an address with underlines", "**https://a.bc/_d_*e*f_** _g_", "https://a.bc/_d_*e*f_ g"],
    [
      "an address in brackets",
      "([x](https://a.bc/_d_)) (https://a.bc/_d_/)",
      "(x (https://a.bc/_d_)) (https://a.bc/_d_/)",
    ],
    ["an address with other letters", "[x](https://bücher.example/ö)", "x (https://bücher.example/ö)"],
    ["an image", "![x](https://a.bc/d.png)", "x (https://a.bc/d.png)"],
    ["an image with a link in it", "![x [y](z)](w)", "x [y](z) (w)"],
    ["a heading", "# One\nTwo", "One\nTwo"],
    ["a heading by a line below", "One\ntwo\n===", "One two"],
    ["lists", "- one\n* two\n\n1. three\n2) four", "• one\n• two\n\n1. three\n2) four"],
    ["numbers all the same", "1. one\n1. two\n1. three", "1. one\n2. two\n3. three"],
    ["numbers that leap", "3. one\n7. two", "3. one\n7. two"],
    ["a number alone", "42.", "42."],
    ["a list that begins with code", "- ```\n  x\n  y\n  ```", "• x\ny"],
    ["tasks", "- [ ] one\n- [x] two", "• [ ] one\n• [x] two"],
    ["a quote in a quote", "> one\n> > two", "> one\n> > two"],
    ["code as it is", "```ts\n  a *b*\n\n\tc\n```", "  a *b*\n\n\tc"],
    ["what is more than a language", "```Warning do not touch\nx\n```", "Warning do not touch\nx"],
    ["words behind a fence", "```All is well, and that is all", "All is well, and that is all"],
    ["a fence that does not end", "```\na\n\n# b", "a\n\n# b"],
    ["a table", "| a | bc |\n|---|---|\n| def | g |", "a   | bc\ndef | g"],
    [
      "wide letters, emoji and combining marks of a table in columns",
      "| 名前 | 年齢 |\n|---|---|\n| 太郎 | 20 |\n| Jonathan | 5 |\n| 👩‍👩‍👧 e\u0301 | 7 |",
      "名前     | 年齢\n太郎     | 20\nJonathan | 5\n👩‍👩‍👧 e\u0301     | 7",
    ],
    ["cells that the table has no column for", "a|b\n-|-\nc|d|e|f", "a | b\nc | d | e | f"],
    ["raw HTML", "<div>\n<b>x</b>\n</div>\n<!-- y -->", "<div>\n<b>x</b>\n</div>\n<!-- y -->"],
    ["reference links", "[x][1] and [y]\n\n[1]: https://a.bc\n[y]: z", "[x][1] and [y]\n\n[1]: https://a.bc\n[y]: z"],
    ["footnotes", "a[^1]\n\n[^1]: b", "a[^1]\n\n[^1]: b"],
    ["front matter", "---\ntitle: x\n---\n\ny", "title: x\n\ny"],
    ["a rule", "a\n\n***\n\nb", "a\n\n———\n\nb"],
    ["no rule at the end", "***\n\na\n\n***", "a"],
    ["entities", "&lt;b&gt; &copy; &nope;", "<b> © &nope;"],
    ["line ends of all kinds", "a\r\nb\rc", "a\nb\nc"],
    ["half a character", "a\ud800b", "a\ufffdb"],
    ["no control characters", "a\u0000\u0007b\u001b", "ab"],
    ["no colours of programs", "\u001b[32mDone\u001b[0m", "Done"],
    ["a nesting that is too deep, as written", `${"> ".repeat(20)}*x*`, `${"> ".repeat(20)}*x*`],
  ];
  for (const [what, markdown, expected] of cases) {
    it(`writes ${what}`, () => {
      expect(toParts(markdown, style("plain"))).to.deep.equal([{ text: expected, plain: expected }]);
    });
  }

  for (const markdown of ["", " \n\t", "\u200b", "---", "```\n```", "[](<>)", "> ", "&nbsp;", "\u0000", "***\n\n___"]) {
    it(`returns no part for ${JSON.stringify(markdown)}`, () => {
      expect(toParts(markdown, style("plain"))).to.deep.equal([]);
    });
  }
});
