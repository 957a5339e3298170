import MarkdownIt, { type StateBlock } from "markdown-it";
import cjkFriendly from "markdown-it-cjk-friendly";

/** Maximum nesting of quotes and lists (a list counts twice). Deeper blocks are shown as source text. */
const MAX_LEVELS = 16;

/**
 * Parses CommonMark with GFM's tables and strike-through, without dropping any text:
 * - Raw HTML, reference links, their definitions and footnotes remain as source text.
 * - Blocks that are nested too deeply remain as source text.
 * - Surplus cells of a table row are appended to the last column.
 * - Underscores and asterisks in an address are not markup.
 * - Emphasis and strike-through may begin and end between punctuation and Chinese, Japanese or Korean letters, which have no
 *   spaces between words.
 *
 * Addresses stay as written. `mayHideAddress` decides later which become links: a link that the parser rejected would remain
 * as Markdown, which a service might turn into a link.
 */
export const parser = new MarkdownIt({ html: false, linkify: false, maxNesting: MAX_LEVELS + 4 });
parser.use(cjkFriendly);
parser.disable(["reference", "html_block", "html_inline"]);
parser.core.ruler.enableOnly(["block"]);
parser.validateLink = () => true;
parser.normalizeLink = (address) => address;
parser.normalizeLinkText = (address) => address;

parser.block.ruler.before("table", "tooDeep", (state, startLine, endLine) => {
  if (state.level < MAX_LEVELS) return false;
  let line = startLine + 1;
  while (line < endLine && (state.isEmpty(line) || state.sCount[line]! >= state.blkIndent)) line += 1;
  const token = state.push("raw", "", 0);
  token.content = state.getLines(startLine, line, state.blkIndent, false);
  token.map = [startLine, line];
  state.line = line;
  return true;
});

const ADDRESS = /:\/\/(?:[^\s<>[\]()`\\|&]|&(?!#?\w{1,31};))+/y;

/** Characters that do not belong to an address at its end (GFM, extended autolinks). */
const AFTER_ADDRESS = "?!.,:;*_~'\"";

parser.inline.ruler.after("text", "address", (state, silent) => {
  if (!state.src.startsWith("://", state.pos)) return false;
  if (!/(?:^|[^a-z\d])https?$/i.test(state.src.slice(Math.max(0, state.pos - 6), state.pos))) return false;
  ADDRESS.lastIndex = state.pos;
  const found = ADDRESS.exec(state.src.slice(0, state.posMax))?.[0] ?? "";
  let length = found.length;
  while (length > 0 && AFTER_ADDRESS.includes(found.charAt(length - 1))) length -= 1;
  if (length <= "://".length) return false;
  if (!silent) state.pending += found.slice(0, length);
  state.pos += length;
  return true;
});

const [readTable] = new MarkdownIt("zero").enable("table").block.ruler.getRules("");
const [readQuote] = new MarkdownIt("zero").enable("blockquote").block.ruler.getRules("");

/** Lines in which the end of a quote is looked for at first, and by how many times as many after each failure. */
const QUOTE_LINES = 16;
const QUOTE_LINES_FACTOR = 64;

// The rule of markdown-it prepares each line up to a blank one, even if the quote ends before it, as after a heading or code.
// Many such quotes would take quadratic time.
parser.block.ruler.at(
  "blockquote",
  (state, startLine, endLine, silent) => {
    if (!readQuote) return false;
    if (silent) return readQuote(state, startLine, endLine, silent);
    const { lineMax, tokens } = state;
    const first = tokens.length;
    for (let lines = QUOTE_LINES; startLine + lines < endLine; lines *= QUOTE_LINES_FACTOR) {
      state.lineMax = startLine + lines;
      const isQuote = readQuote(state, startLine, state.lineMax, silent);
      const isWhole = state.line < state.lineMax;
      state.lineMax = lineMax;
      if (!isQuote || isWhole) return isQuote;
      tokens.length = first;
    }
    return readQuote(state, startLine, endLine, silent);
  },
  { alt: ["paragraph", "reference", "blockquote", "list"] },
);

parser.block.ruler.at(
  "table",
  (state, startLine, endLine, silent) => {
    const first = state.tokens.length;
    if (!readTable?.(state, startLine, endLine, silent)) return false;
    if (!silent) keepSurplusCells(state, first);
    return true;
  },
  { alt: ["paragraph", "reference"] },
);

function keepSurplusCells(state: StateBlock, first: number): void {
  let columns = 0;
  for (let index = first; index < state.tokens.length; index += 1) {
    const token = state.tokens[index]!;
    if (token.type === "th_open") columns += 1;
    if (token.type !== "tr_open" || columns === 0) continue;
    const line = token.map![0];
    const cells = splitRow(state.src.slice(state.bMarks[line]! + state.tShift[line]!, state.eMarks[line]));
    const last = state.tokens[index + 3 * columns - 1]!;
    last.content = [last.content, ...cells.slice(columns)].join(" | ");
  }
}

function splitRow(row: string): string[] {
  const cells = row.trim().split(/(?<!\\)\|/);
  if (cells[0] === "") cells.shift();
  if (cells.at(-1) === "") cells.pop();
  return cells.map((cell) => cell.replaceAll("\\|", "|").trim());
}
