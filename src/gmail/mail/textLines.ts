/** Invisible characters, which newsletters use as filler after their first line. */
const INVISIBLE = /\u00ad|\u034f|\u200b|\ufeff/g;

/** Collects text as lines: collapses white space as a browser does, and keeps at most one blank line between two others. */
export class TextLines {
  readonly #lines: string[] = [];
  #line = "";
  /** Whether white space at this position is collapsed into that before it. */
  #afterSpace = true;
  #needsBlankLine = false;
  /** The bullet of a list item that has no text yet. */
  #marker = "";

  /** Appends text to the line. Preformatted text keeps its spaces, and its line ends begin lines. */
  add(text: string, isPreformatted: boolean): void {
    const visible = text.replace(INVISIBLE, "");
    if (!isPreformatted) {
      const collapsed = visible.replace(/\s+/g, " ");
      if (collapsed === "") return;
      this.#line += this.#afterSpace && collapsed.startsWith(" ") ? collapsed.slice(1) : collapsed;
      this.#afterSpace = collapsed.endsWith(" ");
      return;
    }
    const [first = "", ...further] = visible.split(/\r\n?|\n/);
    this.#append(first);
    for (const next of further) {
      this.endLine(this.#line.trim() === "");
      this.#append(next);
    }
  }

  #append(preformatted: string): void {
    if (preformatted === "") return;
    this.#line += preformatted;
    this.#afterSpace = false;
  }

  endLine(withBlankLine: boolean): void {
    const line = this.#line.trimEnd();
    this.#line = "";
    this.#afterSpace = true;
    if (line !== "") {
      if (this.#needsBlankLine && this.#lines.length > 0) this.#lines.push("");
      this.#lines.push(this.#marker + line);
      this.#needsBlankLine = false;
      this.#marker = "";
    }
    // A margin at the beginning of a list item is that of the item.
    if (this.#marker === "") this.#needsBlankLine ||= withBlankLine;
  }

  /** Begins a list item, whose first line gets the marker. */
  beginItem(marker: string): void {
    this.#marker = marker;
  }

  /** Ends a list item. A margin at its end does not separate it from the next one. */
  endItem(): void {
    this.#marker = "";
    this.#needsBlankLine = false;
  }

  /** Ends the last line and returns all lines. */
  end(): string {
    this.endLine(false);
    return this.#lines.join("\n");
  }
}
