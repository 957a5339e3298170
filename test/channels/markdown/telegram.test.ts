import { expect } from "chai";
import { toParts } from "../../../src/channels/markdown/parts.ts";
import { shownOfHtml, style, visible } from "./shown.ts";

const html = (markdown: string) => toParts(markdown, style("telegram-html")).map(({ text }) => text);

describe("toParts for Telegram", () => {
  const cases: [string, string, string][] = [
    ["marks", "**b** *i* ~~s~~ `c`", "<b>b</b> <i>i</i> <s>s</s> <code>c</code>"],
    ["marks beside Chinese letters", "**真，**她", "<b>真，</b>她"],
    [
      "marks around brackets before Chinese letters",
      "**重要提示（Important Notice）：**请注意",
      "<b>重要提示（Important Notice）：</b>请注意",
    ],
    ["marks around Korean quotes", '**"안녕"**이라고', '<b>"안녕"</b>이라고'],
    ["slanted text before Japanese letters", "これは*「強調」*です", "これは<i>「強調」</i>です"],
    ["struck text before Chinese letters", "~~删除（括号）。~~这个", "<s>删除（括号）。</s>这个"],
    ["bold code beside Chinese letters", "**`a`**的", "<code>a</code>的"],
    ["Latin letters as CommonMark reads them", "**Note:**text 2*3*4 a_b_c", "**Note:**text 2<i>3</i>4 a_b_c"],
    ["marks within marks", "**b *bi* b**", "<b>b <i>bi</i> b</b>"],
    ["characters of HTML", "1 < 2 && 3 > 2", "1 &lt; 2 &amp;&amp; 3 &gt; 2"],
    ["raw HTML as text", "<b>x</b> <script>", "&lt;b&gt;x&lt;/b&gt; &lt;script&gt;"],
    ["escaped marks", "2 \\* 3 \\_ 4", "2 * 3 _ 4"],
    ["a heading", "## Two *words*", "<b>Two <i>words</i></b>"],
    ["a bold heading, bold once", "# **One**", "<b>One</b>"],
    ["code without marks around it", "**a `b` c**", "<b>a </b><code>b</code><b> c</b>"],
    ["a block of code", "```ts\nif (a < b) {}\n```", '<pre><code class="language-ts">if (a &lt; b) {}</code></pre>'],
    ["a block of code of no language", "    one\n    two", "<pre>one\ntwo</pre>"],
    ["a link", '[x](https://a.bc/?d="e"&f)', '<a href="https://a.bc/?d=&quot;e&quot;&amp;f">x</a>'],
    ["a link to a part of Telegram", "[x](tg://resolve?domain=a)", '<a href="tg://resolve?domain=a">x</a>'],
    ["code in a link as text", "[`x`](https://a.bc)", '<a href="https://a.bc">x</a>'],
    ["an image as a link", "![x](https://a.bc/d.png)", '<a href="https://a.bc/d.png">x</a>'],
    [
      "no link in a link",
      "[![x](https://a.bc/d.png)](https://e.fg)",
      '<a href="https://e.fg">x (https://a.bc/d.png)</a>',
    ],
    ["an address as it is", "<https://a.bc> [https://d.ef](https://d.ef)", "https://a.bc https://d.ef"],
    ["an address that Telegram would drop", "[x](http://localhost:3000)", "x (http://localhost:3000)"],
    ["an address without a host", "[x](src/a.ts)", "x (src/a.ts)"],
    ["an address of a mail", "[x](mailto:a@b.cd)", "x (mailto:a@b.cd)"],
    ["no mention of a user", "[x](tg://user?id=1)", "x (tg://user?id=1)"],
    ["an address that nobody should open as text", "[x](javascript:alert)", "x (javascript:alert)"],
    ["a link's title", '[x](https://a.bc "Title")', '<a href="https://a.bc">x</a> (Title)'],
    ["a quote", "> one\n> two\n>\n> three", "<blockquote>one\ntwo\n\nthree</blockquote>"],
    ["two quotes", "> one\n\ntext\n\n> two", "<blockquote>one</blockquote>\n\ntext\n\n<blockquote>two</blockquote>"],
    ["a quote in a quote", "> one\n>> two", "<blockquote>one\n&gt; two</blockquote>"],
    ["a quote in a list", "- > one", "• &gt; one"],
    ["a list in a quote", "> - one\n> - two", "<blockquote>• one\n• two</blockquote>"],
    ["a table", "| a | bc |\n|---|---|\n| def | g |", "<pre>a   | bc\ndef | g</pre>"],
  ];
  for (const [what, markdown, expected] of cases) {
    it(`writes ${what}`, () => {
      expect(html(markdown)).to.deep.equal([expected]);
    });
  }

  it("counts the text without tags", () => {
    const markdown = "**<** ".repeat(40);

    const parts = toParts(markdown, style("telegram-html", 79));

    expect(parts).to.have.length(1);
    expect(shownOfHtml(parts[0]?.text ?? "")).to.equal("< ".repeat(40).trim());
  });

  it("keeps the HTML within Telegram's limit, however many tags it has", () => {
    const parts = toParts("***~~x~~*** `y` ".repeat(5_000), style("telegram-html", 30_000));

    for (const { text } of parts) expect(Buffer.byteLength(text)).to.be.at.most(32_000);
    expect(visible(parts.map(({ plain }) => plain).join(""))).to.equal("xy".repeat(5_000));
  });

  it("reopens a mark in the next message", () => {
    const parts = toParts("**One two. Three four.**", style("telegram-html", 12));

    expect(parts.map(({ text }) => text)).to.deep.equal(["<b>One two.</b>", "<b>Three four.</b>"]);
  });

  it("shows the address of a link whose label is split", () => {
    const parts = toParts("[one two](https://a.bc)", style("telegram-html", 16));

    expect(parts.map(({ text }) => text)).to.deep.equal(["one two", "(https://a.bc)"]);
    expect(parts.map(({ plain }) => plain)).to.deep.equal(["one two", "(https://a.bc)"]);
  });
});
