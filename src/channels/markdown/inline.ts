import type { Token } from "markdown-it";
import { isVisible } from "../../shared/text/text.ts";
import { bidiEncoded, mayHideAddress, withoutBidi } from "./linkLabel.ts";
import { parser } from "./parser.ts";

/** Formatting of a range of text, from `start` to `end`. The range of a link includes the address shown after its label. */
export interface Mark {
  readonly kind: "bold" | "italic" | "strike" | "link";
  /** The markup as the author wrote it, such as `**`. */
  readonly markup: string;
  /** Address of a link. Images become links, so that no program loads an address from a model by itself. */
  readonly href: string;
  readonly title: string;
  readonly start: number;
  end: number;
  /** Whether the label of a link is its address; services turn addresses into links by themselves. */
  isLabelAddress: boolean;
  /** Whether the label of a link may replace its address, which is otherwise shown after the label. */
  mayHideAddress: boolean;
}

/**
 * A piece of text with the same formatting. `escaped` is text that must not be read as markup, such as characters that the
 * author escaped. `address` is a link's address after its label, ` (https://…)`. `line` and `hardLine` are line ends.
 */
export interface Run {
  readonly kind: "text" | "escaped" | "code" | "address" | "line" | "hardLine";
  readonly text: string;
  readonly start: number;
  /** The backticks around code. */
  readonly markup: string;
  /** The marks around the run, outermost first. */
  readonly marks: readonly Mark[];
}

/** The content of a paragraph, a heading or a table cell. `text` is the concatenation of the texts of `runs`. */
export interface Inline {
  readonly text: string;
  readonly runs: readonly Run[];
}

const MARKS: Readonly<Record<string, Mark["kind"]>> = { strong: "bold", em: "italic", s: "strike", a: "link" };

export function readInline(markdown: string): Inline {
  const tokens: Token[] = [];
  parser.inline.parse(markdown, parser, {}, tokens);
  const reader = new InlineReader();
  for (const token of tokens) reader.read(token);
  reader.resolveLinks();
  return { text: reader.texts.join(""), runs: reader.runs };
}

/** Returns text without any formatting. */
export function plainInline(text: string): Inline {
  return { text, runs: [{ kind: "escaped", text, start: 0, markup: "", marks: [] }] };
}

class InlineReader {
  readonly runs: Run[] = [];
  readonly texts: string[] = [];
  #length = 0;
  /** The text without addresses after labels: what a reader sees if all addresses are hidden. */
  #seen = "";
  readonly #links: { readonly mark: Mark; readonly start: number; readonly end: number }[] = [];
  #marks: readonly Mark[] = [];
  /** Start of each open mark: its index in `runs` and its offset in `#seen`. */
  readonly #starts: { readonly run: number; readonly seen: number }[] = [];

  read(token: Token): void {
    if (token.type === "image") {
      this.#open("link", token, "src");
      this.#add("escaped", alternative(token));
      this.#close();
    } else if (token.nesting > 0) this.#open(MARKS[token.tag] ?? "bold", token, "href");
    else if (token.nesting < 0) this.#close();
    else if (token.type === "code_inline") this.#add("code", token.content, token.markup);
    else if (token.type === "softbreak") this.#add("line", "\n");
    else if (token.type === "hardbreak") this.#add("hardLine", "\n");
    // A backslash before a character that needs no escape is ordinary text.
    else if (token.type === "text" || (token.content === token.markup && token.content !== "\\"))
      this.#add("text", token.content);
    else this.#add("escaped", token.content.replace(/[\r\n]/g, " "));
  }

  /** Decides which links may hide their addresses. */
  resolveLinks(): void {
    for (const { mark, start, end } of this.#links)
      mark.mayHideAddress = mayHideAddress(this.#seen, start, end, mark.href);
  }

  #add(kind: Run["kind"], given: string, markup = ""): void {
    const text = this.#marks.some((mark) => mark.kind === "link") ? withoutBidi(given) : given;
    if (text === "") return;
    this.runs.push({ kind, text, start: this.#length, markup, marks: this.#marks });
    this.texts.push(text);
    if (kind !== "address") this.#seen += text;
    this.#length += text.length;
  }

  #open(kind: Mark["kind"], token: Token, attribute: string): void {
    const href = bidiEncoded(String(token.attrGet(attribute) ?? ""));
    const title = String(token.attrGet("title") ?? "");
    const { markup } = token;
    const [start, end] = [this.#length, this.#length];
    const mark = { kind, markup, href, title, start, end, isLabelAddress: false, mayHideAddress: false };
    this.#marks = [...this.#marks, mark];
    this.#starts.push({ run: this.runs.length, seen: this.#seen.length });
  }

  #close(): void {
    const mark = this.#marks.at(-1);
    const from = this.#starts.pop();
    if (!mark || !from) return;
    const { href, title } = mark;
    if (href !== "") {
      const label = this.texts.slice(from.run).join("");
      const isLabelled = isVisible(label);
      if (!isLabelled) this.#add("text", href);
      mark.isLabelAddress = !isLabelled || label === href || `mailto:${label}` === href;
      this.#links.push({ mark, start: from.seen, end: this.#seen.length });
      if (!mark.isLabelAddress) this.#add("address", ` (${href})`);
    }
    mark.end = this.#length;
    this.#marks = this.#marks.slice(0, -1);
    if (title !== "") this.#add("text", ` (${title.replace(/\s+/g, " ")})`);
  }
}

/** Returns the alternative text of an image; its source if that contains links or images. */
function alternative({ children, content }: Token): string {
  const isNested = children?.some(({ type }) => type === "link_open" || type === "image");
  const text = isNested ? content : children?.map((child) => (child.tag === "br" ? " " : child.content)).join("");
  return (text ?? "").replace(/\s+/g, " ");
}
