import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import { isVisible } from "../../shared/text/text.ts";
import { readBlocks } from "./blocks.ts";
import { MessageSplitter } from "./messageSplitter.ts";
import { splitPlainText } from "./splitPlainText.ts";
import type { Part, TextStyle } from "./style.ts";
import { WRITERS } from "./writers.ts";

/** A longer reply is sent as source text, since parsing Markdown can take hundreds of times its memory. */
const MAX_MARKDOWN_UNITS = 512 * 1024;

/**
 * Splits an agent's reply into messages. None is blank; there are none if the reply has no visible character. Their `plain`
 * texts hold each visible character in order. A part exceeds the limit only if a single code point does.
 */
export function toParts(markdown: string, style: TextStyle): Part[] {
  const source = sanitizeText(markdown);
  if (!isVisible(source)) return [];
  if (source.length > MAX_MARKDOWN_UNITS) return [...splitPlainText(source, style, WRITERS[style.dialect])];
  const splitter = new MessageSplitter(style);
  for (const block of readBlocks(source)) splitter.add(block);
  return splitter.end();
}
