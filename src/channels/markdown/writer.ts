import type { Inline, Mark, Run } from "./inline.ts";

/** How a dialect writes. None of it changes the order of the visible characters. */
export interface Writer {
  /** Ordinary text; `*` and the like may be in it, of which the author's parser made nothing. */
  text(text: string): string;
  /** Text in which nothing is to be taken for a mark. */
  escaped(text: string): string;
  /** @param markup the marks that the author has put around it, which surely suit it */
  code(code: string, markup: string): string;
  /** A block of code. */
  fence(code: string, language: string): string;
  open(mark: Mark): string;
  close(mark: Mark): string;
  /** Whether a link is made of this mark, with the address out of sight; else it is text behind the label. */
  hidesAddress(mark: Mark): boolean;
  /** A link's address behind its label, where it is not hidden. */
  address(address: string): string;
  /** A heading, of a text in the dialect; undefined: it is bold. */
  heading(text: string, level: number): string | undefined;
  /** The pieces of a text, one after the other. */
  join(pieces: readonly string[]): string;
  /** Makes a text that is no list, heading and so on where a line of it begins like one. */
  lineStarts(text: string): string;
  /** A whole table; undefined: as code. */
  table(rows: readonly (readonly Inline[])[]): string | undefined;
  readonly bullet: string;
  /** What each line of a quote begins with. */
  readonly quote: string;
  readonly rule: string;
  readonly hardLine: string;
  /** Whether marks end with the line. */
  readonly marksEndAtLine: boolean;
  /** Whether code has no other marks around it. */
  readonly excludesMarksFromCode: boolean;
  /** Whether code within an item of a list is indented like its text. */
  readonly indentsCode: boolean;
  /** Whether the outermost quote is wrapped as a whole, instead of by line. */
  readonly wrapsQuotes: boolean;
}

/** What most dialects have in common: the text as it is, addresses shown, nothing bold. */
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

/** Writes a stretch of a text. Marks that begin before it or end behind it are opened and closed anew; links need their all. */
export function writeInline(inline: Inline, from: number, to: number, writer: Writer, isBold = false): string {
  const pieces: string[] = [];
  let open: readonly Mark[] = [];
  const switchTo = (marks: readonly Mark[]) => {
    let same = 0;
    while (same < open.length && open[same] === marks[same]) same += 1;
    for (const mark of open.slice(same).reverse()) pieces.push(writer.close(mark));
    for (const mark of marks.slice(same)) pieces.push(writer.open(mark));
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
    pieces.push(written);
  }
  switchTo([]);
  return writer.join(pieces.filter((piece) => piece !== ""));
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
  // Code in a link is written as text.
  if (writer.excludesMarksFromCode && run.kind === "code" && !shown.some(isLink)) return [];
  return shown;
}

function isLink({ kind }: Mark): boolean {
  return kind === "link";
}

/** The run that holds a place. */
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
