import type { Container } from "./blocks.ts";
import { fillOf, type Sizes, sizesOf } from "./measure.ts";
import { type Piece, separatorBetween } from "./render.ts";
import type { Part, TextStyle } from "./style.ts";
import { PLAIN, type Writer } from "./writer.ts";
import { WRITERS } from "./writers.ts";

const QUOTE = ["<blockquote>", "</blockquote>"] as const;

/** Builds one message from pieces of blocks. */
export class MessageBuilder {
  readonly #style: TextStyle;
  readonly #writer: Writer;
  readonly #pieces: Piece[] = [];
  /** The separator before each piece. */
  readonly #gaps: Part[] = [];
  #sizes: Sizes = { text: 0, plain: 0, ranges: 0 };

  constructor(style: TextStyle) {
    this.#style = style;
    this.#writer = WRITERS[style.dialect];
  }

  get isEmpty(): boolean {
    return this.#pieces.length === 0;
  }

  get isHalfFull(): boolean {
    return fillOf(this.#sizes, this.#style) > 1 / 2;
  }

  /** Returns the used share of the limits with that piece; it fits if that is at most 1. */
  fillWith(piece: Piece): number {
    return fillOf(this.#sizesWith(piece), this.#style);
  }

  append(piece: Piece): void {
    this.#sizes = this.#sizesWith(piece);
    this.#gaps.push(this.#gapBefore(piece));
    this.#pieces.push(piece);
  }

  /** Removes and returns a heading at the end, to be moved to the next message; undefined if it is the only piece. */
  takeHeading(): Piece | undefined {
    const last = this.#pieces.at(-1)?.block;
    const isHeading = last?.kind === "heading" && last.containers.length === 0;
    return isHeading && this.#pieces.length > 1 ? this.#pieces.pop() : undefined;
  }

  /** Returns the message without rules at its end; undefined if nothing remains. */
  finish(): Part | undefined {
    while (this.#pieces.at(-1)?.block.kind === "rule") this.#pieces.pop();
    if (this.isEmpty) return undefined;
    let text = "";
    let plain = "";
    let quote: Container | undefined;
    for (const [at, piece] of this.#pieces.entries()) {
      const around = this.#quoteAround(piece);
      const gap = this.#gaps[at]!;
      const [before, after] = around === quote ? ["", ""] : [quote ? QUOTE[1] : "", around ? QUOTE[0] : ""];
      text += before + gap.text + after + piece.text;
      plain += gap.plain + piece.plain;
      quote = around;
    }
    return { text: quote ? text + QUOTE[1] : text, plain };
  }

  #sizesWith(piece: Piece): Sizes {
    const sizes = sizesOf(piece, this.#style);
    const gap = sizesOf(this.#gapBefore(piece), this.#style);
    const isQuoted = this.#quoteAround(piece) !== undefined;
    return {
      text: this.#sizes.text + gap.text + sizes.text + (isQuoted ? QUOTE.join("").length : 0),
      plain: this.#sizes.plain + gap.plain + sizes.plain,
      ranges: this.#sizes.ranges + sizes.ranges + (isQuoted ? 1 : 0),
    };
  }

  #gapBefore(piece: Piece): Part {
    const last = this.#pieces.at(-1);
    if (!last) return { text: "", plain: "" };
    return { text: separatorBetween(last, piece, this.#writer), plain: separatorBetween(last, piece, PLAIN) };
  }

  /** Returns the outermost quote, if the dialect wraps quotes as a whole. */
  #quoteAround({ block }: Piece): Container | undefined {
    const [outermost] = block.containers;
    return this.#writer.wrapsQuotes && outermost?.kind === "quote" ? outermost : undefined;
  }
}
