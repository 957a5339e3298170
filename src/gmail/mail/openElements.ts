import {
  beginsLine,
  confinesFormatting,
  impliedEndsOf,
  isFormatting,
  isTablePart,
  isVoid,
  stopsEndTag,
} from "./htmlElements.ts";
import { INITIAL_RENDERING, inherit, type OwnStyle, type Rendering } from "./inlineStyle.ts";

interface OpenElement {
  readonly name: string;
  readonly style: OwnStyle;
  rendering: Rendering;
}

/** Maximum open elements that one tag looks at, so that the time is linear. Browsers nest 512 elements at most. */
const MAX_SEARCHED = 512;

/**
 * The elements that are open at a position of an HTML text, as a browser would see them: a start tag ends paragraphs, list
 * items and cells whose end tag is missing, an end tag ends what is open within its element, and formatting survives that.
 */
export class OpenElements {
  readonly #open: OpenElement[] = [];
  /** The number of open elements by name. */
  readonly #counts = new Map<string, number>();
  readonly #onClose: (name: string) => void;

  /** @param onClose called with the name of each element that ends */
  constructor(onClose: (name: string) => void) {
    this.#onClose = onClose;
  }

  /** How text at this position is shown. */
  get rendering(): Rendering {
    return this.#open.at(-1)?.rendering ?? INITIAL_RENDERING;
  }

  /** Ends the elements that the start tag of an element ends. */
  endBefore(name: string): void {
    for (const { closes, within } of impliedEndsOf(name)) {
      if (!closes.some((closed) => this.#counts.has(closed))) continue;
      let found = -1;
      for (let index = this.#open.length - 1; index >= this.#lowest(); index--) {
        const open = this.#open[index]!.name;
        if (closes.includes(open)) found = index;
        // A row group ends both the row and the row group before it.
        if (within.has(open) || (found >= 0 && !isTablePart(name))) break;
      }
      if (found >= 0) this.#closeAt(found);
    }
  }

  open(name: string, style: OwnStyle): void {
    if (isVoid(name)) return;
    this.#push({ name, style, rendering: inherit(this.rendering, style) });
  }

  /** Ends an element, or nothing if the end tag belongs to none. */
  close(name: string): void {
    if (!this.#counts.has(name)) return;
    for (let index = this.#open.length - 1; index >= this.#lowest(); index--) {
      const open = this.#open[index]!.name;
      if (open === name && name !== "body") {
        const inner = this.#open.slice(index + 1);
        if (isFormatting(name) && inner.some((other) => beginsLine(other.name))) this.#replaceFrom(index, inner);
        else this.#closeAt(index);
        return;
      }
      if (stopsEndTag(open, name)) return;
    }
  }

  /** Ends the element at an index and those within it, except formatting. */
  #closeAt(index: number): void {
    const { name } = this.#open[index]!;
    const inner = this.#open.slice(index + 1);
    const kept = confinesFormatting(name) ? [] : inner.filter((other) => isFormatting(other.name));
    this.#replaceFrom(index, kept);
    for (const other of inner.toReversed()) if (!kept.includes(other)) this.#onClose(other.name);
    this.#onClose(name);
  }

  #replaceFrom(index: number, elements: readonly OpenElement[]): void {
    for (const { name } of this.#open.splice(index)) {
      const count = this.#counts.get(name)! - 1;
      if (count > 0) this.#counts.set(name, count);
      else this.#counts.delete(name);
    }
    for (const element of elements) {
      element.rendering = inherit(this.rendering, element.style);
      this.#push(element);
    }
  }

  #push(element: OpenElement): void {
    this.#open.push(element);
    this.#counts.set(element.name, (this.#counts.get(element.name) ?? 0) + 1);
  }

  #lowest(): number {
    return Math.max(0, this.#open.length - MAX_SEARCHED);
  }
}
