import { isVisible } from "../../shared/text.ts";
import type { Block, Container } from "./blocks.ts";
import type { Border } from "./borders.ts";
import { cut, skipSpace } from "./cut.ts";
import { mostUnits, shareOf, sizesOf } from "./measure.ts";
import { Message } from "./message.ts";
import { type Piece, render } from "./render.ts";
import { spread } from "./spread.ts";
import type { Part, TextStyle } from "./style.ts";
import { WRITERS } from "./writers.ts";

const TEXT_BORDERS: readonly Border[] = ["sentence", "word", "grapheme", "rune"];
const CODE_BORDERS: readonly Border[] = ["line", "word", "grapheme", "rune"];

/** Fills messages with blocks, one after the other. */
export class Messages {
  readonly #style: TextStyle;
  readonly #most: number;
  readonly #parts: Part[] = [];
  #message: Message;
  /** Of the message in the making. */
  #index = 0;
  /** In which message an item of a list has its bullet or number. */
  readonly #shown = new Map<Container, number>();

  constructor(style: TextStyle) {
    this.#style = style;
    this.#most = mostUnits(style.limit, style.unit);
    this.#message = new Message(style);
  }

  /** Ends the last message. */
  end(): Part[] {
    this.#send();
    return this.#parts;
  }

  /**
   * A block that is too long for the rest of the message begins the next one. One that is too long for any message is cut;
   * it begins in a message that is not yet half full, if a sentence or a line of it fits there.
   */
  add(block: Block): void {
    const { text, kind } = block;
    if (kind === "rule" && this.#message.isEmpty) return;
    if (!isVisible(text) && !this.#isNewItem(block)) return;
    const isCode = kind === "code" || kind === "table";
    let from = skipSpace(text, 0, isCode);
    while (true) {
      if (text.length - from <= this.#most) {
        if (from > 0 && !isVisible(text.slice(from))) return;
        const rest = this.#render(block, from, text.length);
        if (this.#message.shareWith(rest) <= 1) {
          this.#append(rest);
          return;
        }
        if (!this.#message.isEmpty && shareOf(sizesOf(rest, this.#style), this.#style) <= 1) {
          this.#turn();
          continue;
        }
      }
      const to = this.#cut(block, from, isCode ? CODE_BORDERS : TEXT_BORDERS);
      if (to !== undefined) {
        if (isVisible(text.slice(from, to))) this.#append(this.#render(block, from, to));
        this.#send();
        from = skipSpace(text, to, isCode);
      } else if (!this.#message.isEmpty) this.#turn();
      else {
        this.#addBare(this.#render(block, from, text.length));
        return;
      }
    }
  }

  #cut(block: Block, from: number, borders: readonly Border[]): number | undefined {
    if (this.#message.isHalfFull) return undefined;
    const share = (to: number) => this.#message.shareWith(this.#render(block, from, to));
    return cut(block.text, from, this.#most, this.#message.isEmpty ? borders : borders.slice(0, 1), share);
  }

  #isNewItem({ within }: Block): boolean {
    const container = within.at(-1);
    return container?.kind === "item" && !this.#shown.has(container);
  }

  #render(block: Block, from: number, to: number): Piece {
    return render(block, from, to, this.#style.dialect, this.#shown, this.#index);
  }

  #append(piece: Piece): void {
    this.#message.append(piece);
    this.#mark(piece);
  }

  #mark({ block }: Piece): void {
    for (const container of block.within) if (!this.#shown.has(container)) this.#shown.set(container, this.#index);
  }

  /** Begins the next message, with the heading that would be the last of this one. */
  #turn(): void {
    const heading = this.#message.takeHeading();
    this.#send();
    if (heading) this.#append(heading);
  }

  #send(): void {
    const part = this.#message.finish();
    if (part) this.#parts.push(part);
    this.#message = new Message(this.#style);
    this.#index += 1;
  }

  /** Not even one character of it fits with the marks around it: it goes without them. */
  #addBare(piece: Piece): void {
    for (const part of spread(piece.plain, this.#style, WRITERS[this.#style.dialect])) this.#parts.push(part);
    this.#mark(piece);
    this.#index += 1;
  }
}
