import type { Token } from "markdown-it";
import { isVisible } from "../../shared/text.ts";
import { type Inline, literally, readInline } from "./inline.ts";
import { parser } from "./parser.ts";
import { layTable } from "./table.ts";

/** A quote or an item of a list, around blocks. */
export interface Container {
  readonly kind: "quote" | "item";
  /** Of a numbered item, as `3.`; empty for one with a bullet. */
  readonly number: string;
}

/** What stands by itself: a paragraph, a heading, code, a table, a rule. Lists and quotes are what it is within. */
export interface Block extends Inline {
  readonly kind: "text" | "heading" | "code" | "table" | "rule";
  /** From the outermost to the innermost. */
  readonly within: readonly Container[];
  /** Whether the author left a line free before it. */
  readonly isApart: boolean;
  /** Of a heading. */
  readonly level: number;
  /** Of code: its language. */
  readonly language: string;
  /** Of a table: its rows, the first one the head. */
  readonly rows: readonly (readonly Inline[])[];
}

/** One word alone; what is more is for people to read, from its first word on. */
const LANGUAGE = /^[\w+#.-]{1,40}$/;

/** Reads Markdown; each visible character of it that is no mark is in a block, in order. */
export function* readBlocks(markdown: string): Generator<Block> {
  const reader = new BlockReader();
  for (const token of parser.parse(markdown, {})) yield* reader.read(token);
}

class BlockReader {
  #within: readonly Container[] = [];
  readonly #lists: { first: string | undefined; index: number }[] = [];
  readonly #items: Token[] = [];
  /** The containers that hold a block. */
  readonly #filled = new Set<Container>();
  #level = 0;
  #rows: Inline[][] | undefined;
  #table: Token | undefined;
  /** The line behind the last block. */
  #line = 0;

  *read(token: Token): Generator<Block> {
    switch (token.type) {
      case "blockquote_open":
        this.#within = [...this.#within, { kind: "quote", number: "" }];
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
        this.#within = [...this.#within, { kind: "item", number: this.#numberOf(token) }];
        this.#items.push(token);
        break;
      case "list_item_close":
        yield* this.#endItem(this.#items.pop() ?? token);
        break;
      case "blockquote_close":
        this.#within = this.#within.slice(0, -1);
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
        yield this.#block("table", literally(layTable(this.#rows ?? [])), this.#table ?? token, {
          rows: this.#rows ?? [],
        });
        this.#rows = undefined;
        break;
      case "raw":
        yield this.#block("text", literally(token.content), token);
        break;
      case "hr":
        yield this.#block("rule", literally("———"), token);
        break;
      case "code_block":
      case "fence":
        yield* this.#code(token);
        break;
    }
  }

  /** An item without anything in it has its number all the same, which may be all there is: `42.` */
  *#endItem(token: Token): Generator<Block> {
    const item = this.#within.at(-1)!;
    if (!this.#filled.delete(item)) yield this.#block("text", literally(""), token, { isApart: item.number === "" });
    this.#within = this.#within.slice(0, -1);
  }

  /** Numbers stay as they were written; where each one is the same, they are counted. */
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
    if (words !== "") yield this.#block("text", literally(words), token, { isApart: true });
    if (!isEmpty) yield this.#block("code", literally(token.content.replace(/\n$/, "")), token, { language });
  }

  #block(kind: Block["kind"], inline: Inline, token: Token, more: Partial<Block> = {}): Block {
    const [start, end] = token.map ?? [this.#line, this.#line];
    const isApart = start > this.#line || kind === "rule";
    this.#line = Math.max(this.#line, end);
    for (const container of this.#within) this.#filled.add(container);
    const level = this.#level;
    return { kind, ...inline, within: this.#within, isApart, level, language: "", rows: [], ...more };
  }
}
