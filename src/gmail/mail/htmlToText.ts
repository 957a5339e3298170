import { Tokenizer } from "htmlparser2";
import {
  beginsLine,
  hasMargin,
  isHiddenElement,
  isPreformatted,
  isRawText,
  isTablePart,
  LISTS,
} from "./htmlElements.ts";
import { isShown, type OwnStyle, readStyle } from "./inlineStyle.ts";
import { OpenElements } from "./openElements.ts";
import { TextLines } from "./textLines.ts";

/** Attributes that decide whether and how text is shown. */
const ATTRIBUTES: readonly string[] = ["style", "hidden", "open", "popover"];

const NO_STYLE = { beginsLine: false };

/**
 * Returns the text of an HTML mail as a reader sees it, without links and images: by the default style sheet of a browser and
 * by `style` attributes, so that commands to an agent in text that no reader sees are left out. Uses only the tokenizer and
 * builds no tree, so that deep nesting does not slow it down.
 */
export function htmlToText(html: string): string {
  const lines = new TextLines();
  let openLists = 0;
  const elements = new OpenElements((name) => {
    if (LISTS.has(name)) openLists--;
    breakAt(name);
    if (name === "li") lines.endItem();
    if (name === "q") add("”");
  });

  let tag = "";
  let attribute = "";
  let attributes: Record<string, string> = {};

  function breakAt(name: string, style?: { readonly beginsLine: boolean }): void {
    if (beginsLine(name) || style?.beginsLine) lines.endLine(hasMargin(name) && !(LISTS.has(name) && openLists > 0));
    else if (name === "td" || name === "th") lines.add(" ", false);
  }

  function add(text: string): void {
    const { rendering } = elements;
    if (isShown(rendering)) lines.add(text, rendering.isPreformatted);
  }

  function openTag(): void {
    const style = attributes.style ? readStyle(attributes.style, beginsLine(tag) && !isTablePart(tag)) : NO_STYLE;
    const { beginsLine: _, ...styled } = style;
    const own: OwnStyle = { ...(isPreformatted(tag) && { isPreformatted: true }), ...styled };
    elements.endBefore(tag);
    const isShownBefore = isShown(elements.rendering);
    const isHidden = isHiddenElement(tag) || isHiddenByAttribute(tag, attributes) || own.isHidden;
    if (isShownBefore && !isHidden) breakAt(tag, style);
    elements.open(tag, isHidden ? { ...own, isHidden } : own);
    if (LISTS.has(tag)) openLists++;
    if (tag === "li" && isShown(elements.rendering)) lines.beginItem("- ");
    if (tag === "q") add("“");
  }

  const nothing = () => {};
  const tokenizer = new Tokenizer(
    // A browser would hide everything after <title/>; its author meant an empty element.
    { decodeEntities: true, recognizeSelfClosing: true },
    {
      onopentagname(start, end) {
        tag = html.slice(start, end).toLowerCase();
        attributes = {};
      },
      onattribname(start, end) {
        const name = html.slice(start, end).toLowerCase();
        // The first attribute of a name counts.
        attribute = ATTRIBUTES.includes(name) && !Object.hasOwn(attributes, name) ? name : "";
        if (attribute) attributes[attribute] = "";
      },
      onattribdata(start, end) {
        if (attribute) attributes[attribute] += html.slice(start, end);
      },
      onattribentity(codepoint) {
        if (attribute) attributes[attribute] += String.fromCodePoint(codepoint);
      },
      onopentagend: openTag,
      onselfclosingtag() {
        if (!isRawText(tag)) openTag();
      },
      onclosetag(start, end) {
        const name = html.slice(start, end).toLowerCase();
        if (isShown(elements.rendering)) breakAt(name);
        elements.close(name);
      },
      ontext(start, end) {
        add(html.slice(start, end));
      },
      ontextentity(codepoint) {
        add(String.fromCodePoint(codepoint));
      },
      onattribend: nothing,
      oncdata: nothing,
      oncomment: nothing,
      ondeclaration: nothing,
      onend: nothing,
      onprocessinginstruction: nothing,
    },
  );
  tokenizer.write(html);
  tokenizer.end();
  return lines.end();
}

function isHiddenByAttribute(tag: string, attributes: Readonly<Record<string, string>>): boolean {
  const isClosedDialog = tag === "dialog" && attributes.open === undefined;
  return attributes.hidden !== undefined || attributes.popover !== undefined || isClosedDialog;
}
