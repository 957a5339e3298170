import type { Token } from "markdown-it";
import stringWidth from "string-width";
import { isVisible } from "../../shared/text/text.ts";
import { type Inline, plainInline, readInline } from "./inline.ts";
import { parser } from "./parser.ts";

/** A quote or a list item that contains blocks. */
export interface Container {
  readonly kind: "quote" | "item";
  /** The number of a numbered item, such as `3.`; empty for an item with a bullet and for a quote. */
  readonly number: string;
}

/** A paragraph, heading, code block, table or rule. Lists and quotes are not blocks but containers of blocks. */
export interface Block extends Inline {
  readonly kind: "text" | "heading" | "code" | "table" | "rule";
  /** The containers around the block, outermost first. */
  readonly containers: readonly Container[];
  /** Whether the author left a blank line before the block. */
  readonly hasBlankLineBefore: boolean;
  /** Level of a heading, 1 to 6; 0 for other blocks. */
  readonly level: number;
  /** Language of a code block; empty if unknown. */
  readonly language: string;
  /** Rows of a table, beginning with the header row. */
  readonly rows: readonly (readonly Inline[])[];
}

/** Matches an info string that is a single word. A longer one is text for readers and is shown above the code. */
const LANGUAGE = /^[\w+#.-]{1,40}$/;

/** Parses Markdown into blocks. They hold each visible character that is not markup, in order. */
export function* readBlocks(markdown: string): Generator<Block> {
  const reader = new BlockReader();
  for (const token of parser.parse(markdown, {})) yield* reader.read(token);
}

class BlockReader {
  #containers: readonly Container[] = [];
  readonly #lists: { first: string | undefined; index: number }[] = [];
  readonly #items: Token[] = [];
  /** Containers in which a block has begun. */
  readonly #filled = new Set<Container>();
  #level = 0;
  #rows: Inline[][] | undefined;
  #table: Token | undefined;
  /** The line after the last block. */
  #line = 0;

  *read(token: Token): Generator<Block> {
    switch (token.type) {
      case "blockquote_open":
        this.#containers = [...this.#containers, { kind: "quote", number: "" }];
        break;
      case "bullet_list_open":
      case "ordered_list_open":
        this.#lists.push({ first: undefined, index: 0 });
        break;
      case "bullet_list_close":
      case "ordered_list_close":
        this.#lists.pop();
        break;
      case "list_item_open":
        this.#containers = [...this.#containers, { kind: "item", number: this.#numberOf(token) }];
        this.#items.push(token);
        break;
      case "list_item_close":
        yield* this.#closeItem(this.#items.pop() ?? token);
        break;
      case "blockquote_close":
        this.#containers = this.#containers.slice(0, -1);
        break;
      case "heading_open":
        this.#level = Number(token.tag.slice(1));
        break;
      case "table_open":
        this.#rows = [];
        this.#table = token;
        break;
      case "tr_open":
        this.#rows?.push([]);
        break;
      case "inline":
        if (this.#rows) this.#rows.at(-1)?.push(readInline(token.content));
        else if (this.#level === 0) yield this.#block("text", readInline(token.content), token);
        else yield this.#block("heading", readInline(token.content.replace(/\\?\n/g, " ")), token);
        this.#level = 0;
        break;
      case "table_close":
        yield this.#block("table", plainInline(layOutTable(this.#rows ?? [])), this.#table ?? token, {
          rows: this.#rows ?? [],
        });
        this.#rows = undefined;
        break;
      case "raw":
        yield this.#block("text", plainInline(token.content), token);
        break;
      case "hr":
        yield this.#block("rule", plainInline("———"), token);
        break;
      case "code_block":
      case "fence":
        yield* this.#code(token);
        break;
    }
  }

  /** Closes a list item. An empty one becomes an empty block, since its number may be the whole text, as in `42.` */
  *#closeItem(token: Token): Generator<Block> {
    const item = this.#containers.at(-1)!;
    if (!this.#filled.delete(item))
      yield this.#block("text", plainInline(""), token, { hasBlankLineBefore: item.number === "" });
    this.#containers = this.#containers.slice(0, -1);
  }

  /** Returns the number of an item as written; items that all repeat the first number are counted up. */
  #numberOf({ info, markup }: Token): string {
    const list = this.#lists.at(-1);
    if (!list || info === "") return "";
    list.first ??= info;
    const number = info === list.first ? Number(info) + list.index : Number(info);
    list.index += 1;
    return `${number}${markup}`;
  }

  *#code(token: Token): Generator<Block> {
    const info = token.info.trim();
    const language = LANGUAGE.exec(info)?.[0] ?? "";
    const isEmpty = !isVisible(token.content);
    const words = isEmpty || language === "" ? info : "";
    if (words !== "") yield this.#block("text", plainInline(words), token, { hasBlankLineBefore: true });
    if (!isEmpty) yield this.#block("code", plainInline(token.content.replace(/\n$/, "")), token, { language });
  }

  #block(kind: Block["kind"], inline: Inline, token: Token, more: Partial<Block> = {}): Block {
    const [start, end] = token.map ?? [this.#line, this.#line];
    const hasBlankLineBefore = start > this.#line || kind === "rule";
    this.#line = Math.max(this.#line, end);
    for (const container of this.#containers) this.#filled.add(container);
    const level = this.#level;
    return {
      kind,
      ...inline,
      containers: this.#containers,
      hasBlankLineBefore,
      level,
      language: "",
      rows: [],
      ...more,
    };
  }
}

/** Columns are aligned only while the result is at most 3 times the text plus 2,000: one long cell would pad all rows. */
const MAX_PADDING_FACTOR = 3;
const PADDING_ALLOWANCE = 2_000;

/** Returns rows as lines of text with ` | ` between cells, aligned in columns unless that takes too much space. */
function layOutTable(rows: readonly (readonly Inline[])[]): string {
  const cells = rows.map((row) => row.map(({ text }) => text.replaceAll("\n", " ")));
  const widths: number[] = [];
  let written = 0;
  for (const row of cells) {
    for (const [column, cell] of row.entries()) {
      widths[column] = Math.max(widths[column] ?? 0, stringWidth(cell));
      written += cell.length + 3;
    }
  }
  const width = widths.reduce((sum, one) => sum + one + 3, 0);
  const isAligned = width * cells.length <= MAX_PADDING_FACTOR * written + PADDING_ALLOWANCE;
  return cells
    .map((row) => row.map((cell, column) => (isAligned ? pad(cell, widths[column] ?? 0) : cell)))
    .map((row) => row.join(" | ").trimEnd())
    .join("\n");
}

function pad(cell: string, width: number): string {
  return cell + " ".repeat(Math.max(0, width - stringWidth(cell)));
}
