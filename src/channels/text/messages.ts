import type { Block, Container } from "./blocks.ts";
import type { Border } from "./borders.ts";
import { cut, skipSpace } from "./cut.ts";
import { mostUnits, type Sizes, shareOf, sizesOf } from "./measure.ts";
import { between, type Piece, render } from "./render.ts";
import { spread } from "./spread.ts";
import type { Part, TextStyle } from "./style.ts";
import { isVisible } from "./visible.ts";
import { PLAIN, type Writer } from "./writer.ts";
import { WRITERS } from "./writers.ts";

const TEXT_BORDERS: readonly Border[] = ["sentence", "word", "grapheme", "rune"];
const CODE_BORDERS: readonly Border[] = ["line", "word", "grapheme", "rune"];

/**
 * Fills messages with blocks, one after the other. A block that is too long for the rest of a message begins the next one;
 * one that is too long for any message is cut.
 */
export class Messages {
  readonly #style: TextStyle;
  readonly #writer: Writer;
  readonly #most: number;
  readonly #parts: Part[] = [];
  #pieces: Piece[] = [];
  /** What stands before each of them. */
  #gaps: Part[] = [];
  #sizes: Sizes = { text: 0, plain: 0 };
  /** In which message an item of a list has its bullet or number. */
  readonly #shown = new Map<Container, number>();
  #index = 0;

  constructor(style: TextStyle) {
    this.#style = style;
    this.#writer = WRITERS[style.dialect];
    this.#most = mostUnits(style.limit, style.unit);
  }

  /** Ends the last message. */
  end(): Part[] {
    this.#send();
    return this.#parts;
  }

  add(block: Block): void {
    const { text, kind } = block;
    if (kind === "rule" && this.#pieces.length === 0) return;
    if (!isVisible(text) && !this.#isNewItem(block)) return;
    const isCode = kind === "code" || kind === "table";
    const borders = isCode ? CODE_BORDERS : TEXT_BORDERS;
    let from = skipSpace(text, 0, isCode);
    do {
      if (text.length - from <= this.#most) {
        if (from > 0 && !isVisible(text.slice(from))) return;
        const rest = this.#render(block, from, text.length);
        if (this.#shareWith(rest) <= 1) {
          this.#append(rest);
          return;
        }
        if (this.#pieces.length > 0 && shareOf(sizesOf(rest, this.#style), this.#style) <= 1) {
          this.#turn();
          continue;
        }
      }
      const share = (to: number) => this.#shareWith(this.#render(block, from, to));
      const to = cut(text, from, this.#most, this.#pieces.length > 0 ? borders.slice(0, 1) : borders, share);
      if (to !== undefined) {
        if (isVisible(text.slice(from, to))) this.#append(this.#render(block, from, to));
        this.#send();
        from = skipSpace(text, to, isCode);
      } else if (this.#pieces.length > 0) this.#turn();
      else {
        this.#addBare(this.#render(block, from, text.length));
        return;
      }
    } while (from < text.length);
  }

  #isNewItem({ within }: Block): boolean {
    const container = within.at(-1);
    return container?.kind === "item" && !this.#shown.has(container);
  }

  #render(block: Block, from: number, to: number): Piece {
    return render(block, from, to, this.#style.dialect, this.#shown, this.#index);
  }

  #shareWith(piece: Piece): number {
    return shareOf(this.#sizesWith(piece), this.#style);
  }

  #sizesWith(piece: Piece): Sizes {
    const { text, plain } = sizesOf(piece, this.#style);
    const gap = sizesOf(this.#gapBefore(piece), this.#style);
    const wrap = quoteOf(piece, this.#writer) ? QUOTE.length : 0;
    return { text: this.#sizes.text + gap.text + text + wrap, plain: this.#sizes.plain + gap.plain + plain };
  }

  #gapBefore(piece: Piece): Part {
    const last = this.#pieces.at(-1);
    if (!last) return { text: "", plain: "" };
    return { text: between(last, piece, this.#writer), plain: between(last, piece, PLAIN) };
  }

  #append(piece: Piece): void {
    this.#sizes = this.#sizesWith(piece);
    this.#gaps.push(this.#gapBefore(piece));
    this.#pieces.push(piece);
    this.#mark(piece);
  }

  #mark({ block }: Piece): void {
    for (const container of block.within) if (!this.#shown.has(container)) this.#shown.set(container, this.#index);
  }

  /** Begins the next message, with the heading that would be the last of this one. */
  #turn(): void {
    const isAlone = this.#pieces.length === 1;
    const last = this.#pieces.at(-1);
    const heading = last?.block.kind === "heading" && last.block.within.length === 0 && !isAlone ? last : undefined;
    if (heading) this.#pieces.pop();
    this.#send();
    if (heading) this.#append(heading);
  }

  /** Ends a message. */
  #send(): void {
    while (this.#pieces.at(-1)?.block.kind === "rule") this.#pieces.pop();
    let text = "";
    let plain = "";
    let quote: Container | undefined;
    for (const [at, piece] of this.#pieces.entries()) {
      const wrap = quoteOf(piece, this.#writer);
      if (quote && quote !== wrap) text += "</blockquote>";
      text += this.#gaps[at]?.text;
      if (wrap && quote !== wrap) text += "<blockquote>";
      text += piece.text;
      plain += this.#gaps[at]?.plain + piece.plain;
      quote = wrap;
    }
    if (quote) text += "</blockquote>";
    if (plain !== "") this.#parts.push({ text, plain });
    this.#begin();
  }

  #begin(): void {
    this.#pieces = [];
    this.#gaps = [];
    this.#sizes = { text: 0, plain: 0 };
    this.#index += 1;
  }

  /** Not even one character of it fits with the marks around it: it goes without. */
  #addBare(piece: Piece): void {
    for (const part of spread(piece.plain, this.#style, this.#writer)) this.#parts.push(part);
    this.#mark(piece);
    this.#begin();
  }
}

const QUOTE = "<blockquote></blockquote>";

/** The quote that a piece is to be wrapped in. */
function quoteOf({ block }: Piece, writer: Writer): Container | undefined {
  const [outermost] = block.within;
  return writer.wrapsQuotes && outermost?.kind === "quote" ? outermost : undefined;
}
