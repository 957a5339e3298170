import { Tokenizer } from "htmlparser2";

/** After and before these a new line begins; with an empty line between, where `true`. */
const BLOCK_ELEMENTS: Readonly<Record<string, boolean>> = {
  ...Object.fromEntries(
    ["br", "div", "tr", "li", "dt", "dd", "option", "section", "article", "header", "footer"].map((name) => [
      name,
      false,
    ]),
  ),
  ...Object.fromEntries(
    ["p", "h1", "h2", "h3", "h4", "h5", "h6", "ul", "ol", "dl", "table", "blockquote", "pre", "hr"].map((name) => [
      name,
      true,
    ]),
  ),
};

/** Their content is not for readers. The tokenizer takes it as one text up to the closing tag. */
const HIDDEN_ELEMENTS: readonly string[] = ["script", "style", "title", "iframe", "noembed", "noframes"];

/** Filling that newsletters put after their first line. */
const INVISIBLE = /\u00ad|\u034f|\u200b|\ufeff/g;

/**
 * What a reader sees of an HTML mail: lines and words, no links, no pictures. From the tokenizer alone, without a tree, so
 * that no nesting makes it slow.
 */
export function htmlToText(html: string): string {
  const lines: string[] = [];
  let line = "";
  let needsBlankLine = false;
  let hiddenElement: string | undefined;
  let isPreformatted = false;

  function endLine(withBlankLine: boolean): void {
    const words = line.replace(INVISIBLE, "").replace(/\s+/g, " ").trim();
    line = "";
    if (words) {
      if (needsBlankLine && lines.length > 0) lines.push("");
      lines.push(words);
      needsBlankLine = false;
    }
    needsBlankLine ||= withBlankLine;
  }

  function breakAt(name: string): void {
    const withBlankLine = Object.hasOwn(BLOCK_ELEMENTS, name) ? BLOCK_ELEMENTS[name] : undefined;
    if (withBlankLine !== undefined) endLine(withBlankLine);
    else if (name === "td" || name === "th") line += " ";
  }

  function add(text: string): void {
    if (hiddenElement) return;
    const [first = "", ...further] = isPreformatted ? text.split("\n") : [text];
    line += first;
    for (const next of further) {
      endLine(line.trim() === "");
      line = next;
    }
  }

  const nothing = () => {};
  const tokenizer = new Tokenizer(
    // A browser goes on to hide the rest behind <title/>; whoever wrote it meant an empty one.
    { decodeEntities: true, recognizeSelfClosing: true },
    {
      onopentagname(start, end) {
        const name = html.slice(start, end).toLowerCase();
        if (HIDDEN_ELEMENTS.includes(name)) hiddenElement = name;
        if (name === "pre") isPreformatted = true;
        breakAt(name);
        if (name === "li") line += "- ";
      },
      onclosetag(start, end) {
        const name = html.slice(start, end).toLowerCase();
        if (name === hiddenElement) hiddenElement = undefined;
        if (name === "pre") isPreformatted = false;
        breakAt(name);
      },
      ontext(start, end) {
        add(html.slice(start, end));
      },
      ontextentity(codepoint) {
        add(String.fromCodePoint(codepoint));
      },
      onselfclosingtag() {
        hiddenElement = undefined;
      },
      onend: () => endLine(false),
      onattribdata: nothing,
      onattribentity: nothing,
      onattribend: nothing,
      onattribname: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onopentagend: nothing,
      onprocessinginstruction: nothing,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return lines.join("\n");
}
