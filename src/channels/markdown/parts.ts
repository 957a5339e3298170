import { isVisible } from "../../shared/visible.ts";
import { readBlocks } from "./blocks.ts";
import { MessageSplitter } from "./messageSplitter.ts";
import { splitPlainText } from "./splitPlainText.ts";
import type { Part, TextStyle } from "./style.ts";
import { WRITERS } from "./writers.ts";

// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is taken out
const CONTROLS = /[\0-\x08\x0e-\x1f\x7f-\x84\x86-\x9f]/g;

/** What is longer is sent as it was written: to read it as Markdown can take hundreds of times its memory. */
const MAX_MARKDOWN_UNITS = 512 * 1024;

/**
 * The messages that say an agent's reply, none of them blank; none at all where the reply shows nothing. Each visible
 * character is in their `plain`, in order. A part is over the limit only where a single code point is.
 */
export function toParts(markdown: string, style: TextStyle): Part[] {
  const source = sanitizeText(markdown);
  if (!isVisible(source)) return [];
  if (source.length > MAX_MARKDOWN_UNITS) return [...splitPlainText(source, style, WRITERS[style.dialect])];
  const splitter = new MessageSplitter(style);
  for (const block of readBlocks(source)) splitter.add(block);
  return splitter.end();
}

/**
 * The text with `\n` for every line end, without control characters, which no service shows and some refuse, and with the
 * replacement character for what is no Unicode: half of a surrogate pair.
 */
export function sanitizeText(text: string): string {
  return text
    .toWellFormed()
    .replace(/\r\n?|[\v\f\x85]/g, "\n")
    .replace(CONTROLS, "");
}
