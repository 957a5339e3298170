import MarkdownIt, { type Token } from "markdown-it";
import { beginningFault, faultsOf } from "./faults.ts";

const markdown = new MarkdownIt({ html: true });

/** The end of a sentence: a mark, a space, and a letter or a quotation. */
const BETWEEN_SENTENCES = /(?<=[.!?]["”)]?)(?<!\b(?:e\.g|i\.e|etc|vs)\.) +(?=[`"“(]|[\p{L}\d])/u;

/** Returns the faults of the sentences in the paragraphs, list items and table cells of a document. */
export function faultsIn(document: string): { line: number; message: string }[] {
  const found: { line: number; message: string }[] = [];
  let line = 0;
  let isCell = false;
  let isHeading = false;
  for (const { type, map, children } of markdown.parse(document, {})) {
    if (map) line = map[0] + 1;
    if (/^(td|th)_/.test(type)) isCell = type.endsWith("_open");
    if (type.startsWith("heading_")) isHeading = type.endsWith("_open");
    if (type !== "inline" || isHeading) continue;
    const text = proseOf(children ?? []);
    // a cell often is a list, whose items end with a semicolon
    for (const sentence of text.split(BETWEEN_SENTENCES).flatMap((one) => (isCell ? one.split(";") : [one]))) {
      for (const fault of faultsOf(sentence.trim()))
        found.push({ line, message: `${fault}: ${sentence.slice(0, 100)}` });
    }
  }
  return found;
}

/** A line on which a sentence of a comment begins. */
const COMMENT_LINE = /^\s*(?:\/\*\*|\*|\/\/) (?=[A-Z])/;

/** Returns the comments of a source that begin a line with a word that begins only questions. */
export function faultsInComments(source: string): { line: number; message: string }[] {
  return source.split("\n").flatMap((text, i) => {
    if (!COMMENT_LINE.test(text)) return [];
    const [sentence = ""] = text
      .replace(COMMENT_LINE, "")
      .replace(/ *\*\/$/, "")
      .split(BETWEEN_SENTENCES);
    const fault = beginningFault(sentence);
    return fault ? [{ line: i + 1, message: `${fault}: ${sentence.slice(0, 100)}` }] : [];
  });
}

/** Returns the text of a paragraph as a reader sees it, with a placeholder for each piece of code. */
function proseOf(tokens: readonly Token[]): string {
  const shown = tokens.map(({ type, content }) => {
    if (type === "code_inline") return "`";
    if (type === "softbreak" || type === "hardbreak") return " ";
    return type === "text" ? content : "";
  });
  return shown.join("").replace(/\s+/g, " ").trim();
}
