import { Tokenizer } from "htmlparser2";

/** After and before these a new line begins; with an empty line between, where `true`. */
const LINES: Readonly<Record<string, boolean>> = {
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
const UNREAD: readonly string[] = ["script", "style", "title", "iframe", "noembed", "noframes"];

/** Filling that newsletters put after their first line. */
const INVISIBLE = /\u00ad|\u034f|\u200b|\ufeff/g;

/**
 * What a reader sees of an HTML mail: lines and words, no links, no pictures. From the tokenizer alone, without a tree, so
 * that no nesting makes it slow.
 */
export function htmlText(html: string): string {
  const lines: string[] = [];
  let line = "";
  let isApart = false;
  let unread: string | undefined;

  function endLine(withEmpty: boolean): void {
    const words = line.replace(INVISIBLE, "").replace(/\s+/g, " ").trim();
    line = "";
    if (words) {
      if (isApart && lines.length > 0) lines.push("");
      lines.push(words);
      isApart = false;
    }
    isApart ||= withEmpty;
  }

  function border(name: string): void {
    const withEmpty = Object.hasOwn(LINES, name) ? LINES[name] : undefined;
    if (withEmpty !== undefined) endLine(withEmpty);
    else if (name === "td" || name === "th") line += " ";
  }

  const nothing = () => {};
  const tokenizer = new Tokenizer(
    { decodeEntities: true },
    {
      onopentagname(start, end) {
        const name = html.slice(start, end).toLowerCase();
        if (UNREAD.includes(name)) unread = name;
        border(name);
        if (name === "li") line += "- ";
      },
      onclosetag(start, end) {
        const name = html.slice(start, end).toLowerCase();
        if (name === unread) unread = undefined;
        border(name);
      },
      ontext(start, end) {
        if (!unread) line += html.slice(start, end);
      },
      ontextentity(codepoint) {
        if (!unread) line += String.fromCodePoint(codepoint);
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
      onselfclosingtag: nothing,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return lines.join("\n");
}
