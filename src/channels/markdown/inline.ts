import type { Token } from "markdown-it";
import { isVisible } from "../../shared/text.ts";
import { bidiEncoded, isHonest, withoutBidi } from "./linkLabel.ts";
import { parser } from "./parser.ts";

/** What a piece of text is marked with; `start` and `end` say where in the text, a link's address included. */
export interface Mark {
  readonly kind: "bold" | "italic" | "strike" | "link";
  /** As the author wrote it. */
  readonly markup: string;
  /** Of a link, which an image is too: no one's program is to open by itself what a model has written. */
  readonly href: string;
  readonly title: string;
  readonly start: number;
  end: number;
  /** Of a link: whether its label is its address. Services make links of addresses by themselves. */
  isBare: boolean;
  /** Of a link: whether it may stand for its address, which else is shown behind the label. */
  isHonest: boolean;
}

/**
 * A piece of text in one manner. `escaped`: what is not to be taken for a mark, as what the
 * author has escaped. `address`: a link's address behind its label, ` (https://…)`. `line` and `hardLine`: a line end.
 */
export interface Run {
  readonly kind: "text" | "escaped" | "code" | "address" | "line" | "hardLine";
  readonly text: string;
  readonly start: number;
  /** Of code: the marks around it. */
  readonly markup: string;
  /** From the outermost to the innermost. */
  readonly marks: readonly Mark[];
}

/** The text of a paragraph, a heading or a cell; the texts of its runs are, one after the other, `text`. */
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
  reader.judgeLinks();
  return { text: reader.texts.join(""), runs: reader.runs };
}

/** Text that is no Markdown. */
export function literally(text: string): Inline {
  return { text, runs: [{ kind: "escaped", text, start: 0, markup: "", marks: [] }] };
}

class InlineReader {
  readonly runs: Run[] = [];
  readonly texts: string[] = [];
  #length = 0;
  /** The text without the addresses behind labels: what is seen if all of them are hidden. */
  #seen = "";
  readonly #links: { readonly mark: Mark; readonly start: number; readonly end: number }[] = [];
  #marks: readonly Mark[] = [];
  /** Where each open mark begins: in the runs, and in the text that is seen. */
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
    // A backslash before what needs none is there to be seen.
    else if (token.type === "text" || (token.content === token.markup && token.content !== "\\"))
      this.#add("text", token.content);
    else this.#add("escaped", token.content.replace(/[\r\n]/g, " "));
  }

  /** Decides which links may hide their addresses. */
  judgeLinks(): void {
    for (const { mark, start, end } of this.#links) mark.isHonest = isHonest(this.#seen, start, end, mark.href);
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
    const mark = { kind, markup, href, title, start, end, isBare: false, isHonest: false };
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
      mark.isBare = !isLabelled || label === href || `mailto:${label}` === href;
      this.#links.push({ mark, start: from.seen, end: this.#seen.length });
      if (!mark.isBare) this.#add("address", ` (${href})`);
    }
    mark.end = this.#length;
    this.#marks = this.#marks.slice(0, -1);
    if (title !== "") this.#add("text", ` (${title.replace(/\s+/g, " ")})`);
  }
}

/** What stands for an image: its words, as they were written where they have addresses of their own. */
function alternative({ children, content }: Token): string {
  const isNested = children?.some(({ type }) => type === "link_open" || type === "image");
  const text = isNested ? content : children?.map((child) => (child.tag === "br" ? " " : child.content)).join("");
  return (text ?? "").replace(/\s+/g, " ");
}
