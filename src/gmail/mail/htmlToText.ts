import { Tokenizer } from "htmlparser2";

/** Elements that begin and end a line; `true` adds a blank line. */
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

/** Elements whose content readers do not see. The tokenizer returns it as one text up to the closing tag. */
const HIDDEN_ELEMENTS: readonly string[] = ["script", "style", "title", "iframe", "noembed", "noframes"];

/** Invisible characters, which newsletters use as filler after their first line. */
const INVISIBLE = /\u00ad|\u034f|\u200b|\ufeff/g;

/**
 * Returns the text of an HTML mail without links and images. Uses only the tokenizer and builds no tree, so that deep nesting
 * does not slow it down.
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
    // A browser would hide everything after <title/>; its author meant an empty element.
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
