import { isVisible } from "../../shared/text/text.ts";
import type { Block, Container } from "./blocks.ts";
import type { Boundary } from "./boundaries.ts";
import { fillOf, maxUtf16Units, sizesOf } from "./measure.ts";
import { MessageBuilder } from "./messageBuilder.ts";
import { type Piece, render } from "./render.ts";
import { splitPlainText } from "./splitPlainText.ts";
import { findSplitPoint, skipSpace } from "./splitPoint.ts";
import type { Part, TextStyle } from "./style.ts";
import { WRITERS } from "./writers.ts";

const TEXT_BOUNDARIES: readonly Boundary[] = ["sentence", "word", "grapheme", "rune"];
const CODE_BOUNDARIES: readonly Boundary[] = ["line", "word", "grapheme", "rune"];

/** Distributes blocks over messages. */
export class MessageSplitter {
  readonly #style: TextStyle;
  readonly #maxUnits: number;
  readonly #parts: Part[] = [];
  #message: MessageBuilder;
  /** Index of the current message. */
  #index = 0;
  /** For each list item, the index of the message that shows its bullet or number. */
  readonly #shown = new Map<Container, number>();

  constructor(style: TextStyle) {
    this.#style = style;
    this.#maxUnits = maxUtf16Units(style.limit, style.unit);
    this.#message = new MessageBuilder(style);
  }

  /** Finishes the last message and returns all. */
  end(): Part[] {
    this.#finishMessage();
    return this.#parts;
  }

  /**
   * Adds a block. One that does not fit into the rest of the message begins the next message. One that is too long for any
   * message is split; it begins in the current message if that is at most half full and a sentence or line fits.
   */
  add(block: Block): void {
    const { text, kind } = block;
    if (kind === "rule" && this.#message.isEmpty) return;
    if (!isVisible(text) && !this.#isNewItem(block)) return;
    const isCode = kind === "code" || kind === "table";
    let from = skipSpace(text, 0, isCode);
    while (true) {
      if (text.length - from <= this.#maxUnits) {
        if (from > 0 && !isVisible(text.slice(from))) return;
        const rest = this.#render(block, from, text.length);
        if (this.#message.fillWith(rest) <= 1) {
          this.#append(rest);
          return;
        }
        if (!this.#message.isEmpty && fillOf(sizesOf(rest, this.#style), this.#style) <= 1) {
          this.#startNext();
          continue;
        }
      }
      const to = this.#findSplitPoint(block, from, isCode ? CODE_BOUNDARIES : TEXT_BOUNDARIES);
      if (to !== undefined) {
        if (isVisible(text.slice(from, to))) this.#append(this.#render(block, from, to));
        this.#finishMessage();
        from = skipSpace(text, to, isCode);
      } else if (!this.#message.isEmpty) this.#startNext();
      else {
        this.#addUnformatted(this.#render(block, from, text.length));
        return;
      }
    }
  }

  #findSplitPoint(block: Block, from: number, boundaries: readonly Boundary[]): number | undefined {
    if (this.#message.isHalfFull) return undefined;
    const fill = (to: number) => this.#message.fillWith(this.#render(block, from, to));
    return findSplitPoint(
      block.text,
      from,
      this.#maxUnits,
      this.#message.isEmpty ? boundaries : boundaries.slice(0, 1),
      fill,
    );
  }

  #isNewItem({ containers }: Block): boolean {
    const container = containers.at(-1);
    return container?.kind === "item" && !this.#shown.has(container);
  }

  #render(block: Block, from: number, to: number): Piece {
    return render(block, from, to, this.#style.dialect, this.#shown, this.#index);
  }

  #append(piece: Piece): void {
    this.#message.append(piece);
    this.#markShown(piece);
  }

  #markShown({ block }: Piece): void {
    for (const container of block.containers) if (!this.#shown.has(container)) this.#shown.set(container, this.#index);
  }

  /** Starts the next message and moves a heading at the end of the current one into it. */
  #startNext(): void {
    const heading = this.#message.takeHeading();
    this.#finishMessage();
    if (heading) this.#append(heading);
  }

  #finishMessage(): void {
    const part = this.#message.finish();
    if (part) this.#parts.push(part);
    this.#message = new MessageBuilder(this.#style);
    this.#index += 1;
  }

  /** Adds a piece without its formatting, with which not even one character would fit. */
  #addUnformatted(piece: Piece): void {
    for (const part of splitPlainText(piece.plain, this.#style, WRITERS[this.#style.dialect])) this.#parts.push(part);
    this.#markShown(piece);
    this.#index += 1;
  }
}
