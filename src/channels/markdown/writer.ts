import type { Inline, Mark, Run } from "./inline.ts";
import { type WrittenPiece, withMarksAtWords } from "./wordMarks.ts";

/** Writes formatted text in a dialect. No method changes the order of the visible characters. */
export interface Writer {
  /** Writes ordinary text. It may contain characters such as `*` that were not markup in the source. */
  text(text: string): string;
  /** Writes text of which nothing may be read as markup. */
  escaped(text: string): string;
  /** Writes inline code. @param markup the author's backticks, which are known to suit the code */
  code(code: string, markup: string): string;
  /** Writes a code block. */
  fence(code: string, language: string): string;
  open(mark: Mark): string;
  close(mark: Mark): string;
  /** Returns whether this mark is written as a link with a hidden address; otherwise the address follows the label as text. */
  hidesAddress(mark: Mark): boolean;
  /** Writes a link's visible address after its label. */
  address(address: string): string;
  /** Writes a heading from text in the dialect; undefined if headings are written in bold. */
  heading(text: string, level: number): string | undefined;
  /** Joins the pieces of a text. */
  join(pieces: readonly string[]): string;
  /** Escapes lines that begin like a list, a heading or another block. */
  lineStarts(text: string): string;
  /** Writes a whole table; undefined if tables are written as code. */
  table(rows: readonly (readonly Inline[])[]): string | undefined;
  readonly bullet: string;
  /** Prefix of each line of a quote. */
  readonly quote: string;
  readonly rule: string;
  readonly hardLine: string;
  /** Whether marks cannot span lines. */
  readonly marksEndAtLine: boolean;
  /** Whether the service reads marks only at the boundaries of words. Other marks are left out. */
  readonly marksOnlyAtWords: boolean;
  /** Whether code must not be inside other marks. */
  readonly excludesMarksFromCode: boolean;
  /** Whether a code block in a list item is indented like the item's text. */
  readonly indentsCode: boolean;
  /** Whether the outermost quote is wrapped as a whole instead of line by line. */
  readonly wrapsQuotes: boolean;
}

/** Writes plain text, with visible addresses and without marks. The other writers are based on it. */
export const PLAIN: Writer = {
  text: (text) => text,
  escaped: (text) => text,
  code: (code) => code,
  fence: (code) => code,
  open: () => "",
  close: () => "",
  hidesAddress: () => false,
  address: (address) => ` (${address})`,
  heading: (text) => text,
  join: (pieces) => pieces.join(""),
  lineStarts: (text) => text,
  table: () => undefined,
  bullet: "•",
  quote: "> ",
  rule: "———",
  hardLine: "\n",
  marksEndAtLine: false,
  marksOnlyAtWords: false,
  excludesMarksFromCode: false,
  indentsCode: false,
  wrapsQuotes: false,
};

const BOLD: Mark = {
  kind: "bold",
  markup: "**",
  href: "",
  title: "",
  start: 0,
  end: 0,
  isLabelAddress: false,
  mayHideAddress: false,
};

/**
 * Writes a range of a text. Marks that extend beyond the range are closed at its end or opened at its start; a link is written
 * only if it lies in the range as a whole.
 */
export function writeInline(inline: Inline, from: number, to: number, writer: Writer, isBold = false): string {
  const pieces: WrittenPiece[] = [];
  let open: readonly Mark[] = [];
  const switchTo = (marks: readonly Mark[]) => {
    let same = 0;
    while (same < open.length && open[same] === marks[same]) same += 1;
    for (const mark of open.slice(same).reverse()) pieces.push({ text: writer.close(mark), mark: "close" });
    for (const mark of marks.slice(same)) pieces.push({ text: writer.open(mark), mark: "open" });
    open = marks;
  };
  for (let index = runAt(inline.runs, from); index < inline.runs.length; index += 1) {
    const run = inline.runs[index]!;
    if (run.start >= to) break;
    const marks = shownMarks(isBold ? [BOLD, ...run.marks] : run.marks, run, from, to, writer);
    const text = run.text.slice(Math.max(0, from - run.start), to - run.start);
    const written = writeRun(run, text, marks, writer);
    if (written === "") continue;
    switchTo(marks);
    pieces.push({ text: written });
  }
  switchTo([]);
  const texts = writer.marksOnlyAtWords ? withMarksAtWords(pieces) : pieces.map(({ text }) => text);
  return writer.join(texts.filter((text) => text !== ""));
}

function writeRun(run: Run, text: string, marks: readonly Mark[], writer: Writer): string {
  if (run.kind === "hardLine") return writer.hardLine;
  if (run.kind === "escaped") return writer.escaped(text);
  if (run.kind === "code")
    return writer.excludesMarksFromCode && marks.some(isLink) ? writer.text(text) : writer.code(text, run.markup);
  if (run.kind !== "address" || text !== run.text) return writer.text(text);
  const link = run.marks.findLast(isLink);
  return link && marks.includes(link) ? "" : writer.text(writer.address(text.slice(2, -1)));
}

function shownMarks(marks: readonly Mark[], run: Run, from: number, to: number, writer: Writer): readonly Mark[] {
  if (writer.marksEndAtLine && (run.kind === "line" || run.kind === "hardLine")) return [];
  if (marks.length === 0) return marks;
  const shown: Mark[] = [];
  for (const mark of marks) {
    const isWhole = from <= mark.start && mark.end <= to;
    if (isLink(mark)) {
      if (isWhole && mark.mayHideAddress && writer.hidesAddress(mark) && !shown.some(isLink)) shown.push(mark);
    } else if (!shown.some(({ kind }) => kind === mark.kind)) shown.push(mark);
  }
  // Code in a link is written as text, so that it may keep its marks.
  if (writer.excludesMarksFromCode && run.kind === "code" && !shown.some(isLink)) return [];
  return shown;
}

function isLink({ kind }: Mark): boolean {
  return kind === "link";
}

/** Returns the index of the run that contains a place. */
function runAt(runs: readonly Run[], place: number): number {
  let low = 0;
  let high = runs.length;
  while (high - low > 1) {
    const middle = (low + high) >> 1;
    if (runs[middle]!.start <= place) low = middle;
    else high = middle;
  }
  return low;
}
