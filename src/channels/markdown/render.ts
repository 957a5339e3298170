import type { Block, Container } from "./blocks.ts";
import { neutralizeMentions } from "./mentions.ts";
import type { Dialect } from "./style.ts";
import { PLAIN, type Writer, writeInline } from "./writer.ts";
import { WRITERS } from "./writers.ts";

/** A range of a block, written in a dialect and plain. */
export interface Piece {
  readonly block: Block;
  readonly text: string;
  readonly plain: string;
}

/** For each list item whose bullet or number has been written, the index of the message. */
export type Shown = ReadonlyMap<Container, number>;

/** Renders the range from `from` to `to` of a block for the message with that index. */
export function render(block: Block, from: number, to: number, dialect: Dialect, shown: Shown, index: number): Piece {
  const writer = WRITERS[dialect];
  const body = block.text.slice(from, to).trimEnd();
  const end = from + body.length;
  const write = (text: string, by: Writer) => {
    const [first, rest] = prefixOf(block, by, shown, index);
    const lines =
      rest === "" ? text : text.replace(/\n(.?)/g, (_, next) => `\n${next === "" ? rest.trimEnd() : rest + next}`);
    return neutralizeMentions((first + lines).trimEnd(), dialect);
  };
  const plain = write(body, PLAIN);
  return { block, plain, text: dialect === "plain" ? plain : write(writeBody(block, body, from, end, writer), writer) };
}

function writeBody(block: Block, body: string, from: number, end: number, writer: Writer): string {
  if (block.kind === "rule") return writer.rule;
  if (block.kind === "code") return writer.fence(body, block.language);
  if (block.kind === "table") {
    const table = from === 0 && end === block.text.length ? writer.table(block.rows) : undefined;
    return table ?? writer.fence(body, "");
  }
  if (block.kind === "text") return writer.lineStarts(writeInline(block, from, end, writer));
  const heading = writer.heading(writeInline(block, from, end, writer), block.level);
  return heading ?? writeInline(block, from, end, writer, true);
}

/** Returns the prefixes of a block's first line and of its other lines: quote marks, bullets and indentation. */
function prefixOf({ containers, kind }: Block, writer: Writer, shown: Shown, index: number): [string, string] {
  let first = "";
  let rest = "";
  for (const [depth, container] of containers.entries()) {
    if (container.kind === "quote") {
      const mark = depth === 0 && writer.wrapsQuotes ? "" : writer.quote;
      first += mark;
      rest += mark;
      continue;
    }
    const marker = `${container.number || writer.bullet} `;
    const indent = kind === "code" && !writer.indentsCode ? "" : " ".repeat(marker.length);
    const at = shown.get(container);
    // An item that continues in another message is not indented there.
    if (at === undefined) first += marker;
    else if (at === index) first += indent;
    if (at === undefined || at === index) rest += indent;
  }
  return [first, rest];
}

/**
 * Returns the separator between two pieces of a message: a line end, plus a blank line if the author left one or if two
 * paragraphs would otherwise merge.
 */
export function separatorBetween(before: Piece, after: Piece, writer: Writer): string {
  const isParagraph = before.block.kind === "text" && after.block.kind === "text";
  const isSame =
    isParagraph && after.block.containers.every((container, depth) => container === before.block.containers[depth]);
  if (!after.block.hasBlankLineBefore && !isSame) return "\n";
  let marks = "";
  for (const [depth, container] of before.block.containers.entries()) {
    if (after.block.containers[depth] !== container) break;
    if (container.kind === "quote") marks += depth === 0 && writer.wrapsQuotes ? "" : writer.quote;
    else if (marks !== "") marks += "  ";
  }
  return `\n${marks.trimEnd()}\n`;
}
