import { expect } from "chai";
import fc from "fast-check";
import { sizeOf } from "../../../src/channels/markdown/measure.ts";
import { toParts } from "../../../src/channels/markdown/parts.ts";
import type { Part, TextStyle } from "../../../src/channels/markdown/style.ts";
import { readStyles } from "../../../src/channels/signal/styles.ts";
import { sanitizeText } from "../../../src/shared/text/sanitizeText.ts";
import { runs } from "../../support/random.ts";
import {
  anyMarkdown,
  anyStyle,
  anyText,
  isWithinInOrder,
  lengthOf,
  plainTexts,
  shownOfHtml,
  visible,
} from "./shown.ts";

const isSmall = (text: string, { unit }: TextStyle) =>
  sizeOf(text, unit) <= sizeOf("𝐱", unit) && [...text].length === 1;

/** Words that Markdown cannot interpret; a single word after a fence would be a language. */
function words(markdown: string): string {
  return sanitizeText(markdown)
    .replace(/(`{3,}|~{3,})[^\S\n]*[\w+#.-]+[^\S\n]*$/gmu, "")
    .replace(/[^\p{L}]/gu, "");
}

/** Returns the text that a service shows for the dialect; for dialects of Markdown it includes the marks. */
function shown({ text }: Part, { dialect }: TextStyle): string {
  if (dialect === "telegram-html") return shownOfHtml(text);
  return dialect === "signal" ? readStyles(text).text : text;
}

describe("toParts for arbitrary text", () => {
  it("keeps each word in order, whatever its Markdown means", () => {
    fc.assert(
      fc.property(fc.oneof(anyMarkdown, anyText), anyStyle, (markdown, style) => {
        const parts = toParts(markdown, style);

        const plain = parts.map((part) => part.plain).join("");
        const written = parts.map((part) => shown(part, style)).join("");
        expect(isWithinInOrder(words(markdown), plain), "plain").to.equal(true);
        expect(isWithinInOrder(words(markdown), written), "as it is written").to.equal(true);
      }),
      runs(1000),
    );
  }).timeout(120_000);

  it("returns no part that is blank or over the limit", () => {
    fc.assert(
      fc.property(fc.oneof(anyMarkdown, anyText), anyStyle, (markdown, style) => {
        for (const part of toParts(markdown, style)) {
          expect(visible(part.plain)).to.not.equal("");
          expect(visible(part.text)).to.not.equal("");
          if (isSmall(part.plain, style)) continue;
          expect(sizeOf(part.plain, style.unit)).to.be.at.most(style.limit);
          expect(lengthOf(part, style)).to.be.at.most(style.limit);
        }
      }),
      runs(1000),
    );
  }).timeout(120_000);

  it("writes HTML that Telegram accepts and that shows the same text as plain", () => {
    fc.assert(
      fc.property(fc.oneof(anyMarkdown, anyText), anyStyle, (markdown, style) => {
        for (const { text, plain } of toParts(markdown, { ...style, dialect: "telegram-html" })) {
          expect(visible(shownOfHtml(text))).to.equal(visible(plain));
        }
      }),
      runs(1000),
    );
  }).timeout(120_000);

  it("mentions nobody", () => {
    fc.assert(
      fc.property(anyMarkdown, anyStyle, fc.constantFrom("slack", "markdown"), (markdown, style, dialect) => {
        for (const { text, plain } of toParts(markdown, { ...style, dialect })) {
          expect(`${text}\n${plain}`).to.not.match(/@(?:all|here|channel|everyone)\b/);
          if (dialect === "slack") expect(`${text}\n${plain}`).to.not.match(/<[!@#]/);
        }
      }),
      runs(1000),
    );
  }).timeout(120_000);
});

describe("splitPlainText for arbitrary text", () => {
  it("keeps each visible character in order, in parts within the limit", () => {
    fc.assert(
      fc.property(fc.oneof(anyText, anyMarkdown), anyStyle, (text, style) => {
        const parts = plainTexts(text, style);

        expect(visible(parts.join(""))).to.equal(visible(sanitizeText(text)));
        for (const part of parts) {
          expect(visible(part)).to.not.equal("");
          if (!isSmall(part, style)) expect(sizeOf(part, style.unit)).to.be.at.most(style.limit);
        }
      }),
      runs(1000),
    );
  }).timeout(120_000);
});
