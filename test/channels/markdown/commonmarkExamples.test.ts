import { expect } from "chai";
import { Parser } from "htmlparser2";
import { sizeOf } from "../../../src/channels/markdown/measure.ts";
import { toParts } from "../../../src/channels/markdown/parts.ts";
import type { Part, TextStyle } from "../../../src/channels/markdown/style.ts";
import { readStyles } from "../../../src/channels/signal/styles.ts";
import { CHANNELS, EXAMPLES, type Example } from "./commonmark.ts";
import { isWithinInOrder, lengthOf, shownOfHtml, visible } from "./shown.ts";

/** The text of a page: its text nodes and the descriptions of its images. */
function textOf(html: string): string {
  let text = "";
  const parser = new Parser({
    ontext: (data) => {
      text += data;
    },
    onopentag: (_name, { alt = "" }) => {
      text += alt;
    },
  });
  parser.end(html);
  return text;
}

/** Returns letters and digits, without the language of a code block, which some messages do not show. */
const wordsOf = (text: string) => text.replace(/(`{3,}|~{3,})[^\S\n]*\S*$/gm, "").replace(/[^\p{L}\p{N}]/gu, "");

/**
 * Returns the words of Markdown's source. Messages show the character of an entity instead of its name, and items are
 * numbered again.
 */
const sourceWords = (markdown: string) => wordsOf(markdown.replace(/&#?\w+;/g, "")).replace(/\d/g, "");

/** Returns the code blocks of a page, without the blank lines around them and the spaces at their end. */
const codeBlocks = (html: string): string[] =>
  Array.from(html.matchAll(/^<pre><code[^>]*>([\s\S]*?)<\/code><\/pre>$/gm), ([, code = ""]) =>
    textOf(code)
      .replace(/^(?:\s*\n)+/, "")
      .trimEnd(),
  );

const isHtml = (dialect: TextStyle["dialect"]): boolean => dialect === "html" || dialect === "telegram-html";

/** Returns the text that a service shows for the dialect; for dialects of Markdown it includes the marks. */
function shown({ text }: Part, { dialect }: TextStyle): string {
  if (isHtml(dialect)) return shownOfHtml(text);
  return dialect === "signal" ? readStyles(text).text : text;
}

/** Checks what holds for the messages of every example: nothing visible is lost, and no message is refused by the service. */
function checkParts({ number, markdown, html }: Example, style: TextStyle): void {
  const label = `example ${number}, ${style.dialect}, ${style.limit}`;
  const parts = toParts(markdown, style);
  const texts = {
    plain: parts.map(({ plain }) => plain).join(""),
    written: parts.map((part) => shown(part, style)).join(""),
  };
  for (const [which, text] of Object.entries(texts)) {
    expect(isWithinInOrder(sourceWords(markdown), text), `words of the source in ${which}, ${label}`).to.equal(true);
    expect(isWithinInOrder(wordsOf(textOf(html)), text), `words of the page in ${which}, ${label}`).to.equal(true);
  }
  for (const part of parts) {
    expect(visible(part.plain), label).to.not.equal("");
    expect(visible(part.text), label).to.not.equal("");
    expect(sizeOf(part.plain, style.unit), label).to.be.at.most(style.limit);
    expect(lengthOf(part, style), label).to.be.at.most(style.limit);
    if (isHtml(style.dialect)) expect(visible(shownOfHtml(part.text)), label).to.equal(visible(part.plain));
  }
}

describe("The examples of CommonMark", () => {
  it("are sent by a channel of each kind", () => {
    const dialects = [...CHANNELS.values()].map(({ style }) => style.dialect);

    expect(EXAMPLES).to.have.length.above(600);
    expect([...new Set(dialects)].sort()).to.deep.equal([
      "discord",
      "html",
      "markdown",
      "plain",
      "signal",
      "slack",
      "telegram-html",
      "whatsapp",
    ]);
  });

  for (const [name, { style }] of CHANNELS) {
    it(`become messages of ${name} with all of their words, none blank or over the limit`, () => {
      for (const limit of [style.limit, 60, 20])
        for (const example of EXAMPLES) checkParts(example, { ...style, limit });
    });

    it(`keep the columns and lines of code in messages of ${name}`, () => {
      for (const { number, markdown, html } of EXAMPLES) {
        const plain = toParts(markdown, style)
          .map((part) => part.plain)
          .join("\n");

        // A zero-width space keeps Slack from reading a mention.
        for (const code of codeBlocks(html))
          expect(plain.replaceAll("\u200b", ""), `example ${number}`).to.include(code);
      }
    });
  }
});
