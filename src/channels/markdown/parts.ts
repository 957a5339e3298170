import { isVisible } from "../../shared/text.ts";
import { readBlocks } from "./blocks.ts";
import { clean } from "./clean.ts";
import { Messages } from "./messages.ts";
import { spread } from "./spread.ts";
import type { Part, TextStyle } from "./style.ts";
import { WRITERS } from "./writers.ts";

/** What is longer is sent as it was written: to read it as Markdown can take hundreds of times its memory. */
const MAX_MARKDOWN_UNITS = 512 * 1024;

/**
 * The messages that say an agent's reply, none of them blank; none at all where the reply shows nothing. Each visible
 * character is in their `plain`, in order. A part is over the limit only where a single code point is.
 */
export function toParts(markdown: string, style: TextStyle): Part[] {
  const source = clean(markdown);
  if (!isVisible(source)) return [];
  if (source.length > MAX_MARKDOWN_UNITS) return [...spread(source, style, WRITERS[style.dialect])];
  const messages = new Messages(style);
  for (const block of readBlocks(source)) messages.add(block);
  return messages.end();
}
