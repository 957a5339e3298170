import { keepColours } from "../../../shared/text/sanitizeText.ts";

/** A line of a log as it is stored. */
export interface LogLine {
  readonly at: Date;
  readonly level: string | null;
  readonly text: string;
}

/** The lines of one request, and the bytes that were cut from lines that were too long. */
export interface LogLines {
  readonly lines: readonly LogLine[];
  readonly cutBytes: number;
}

/** Maximum bytes of a line in UTF-8. The rest of a longer line is dropped. */
const MAX_LINE_BYTES = 8 * 1024;

/** An escape sequence whose end was cut off. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequence begins with a control character
const CUT_COLOUR = /\x1b(\[[\d;:]*)?$/;

/**
 * Returns the lines of texts: what a terminal would show of each line in the end, with its colours.
 * @param entries a text may have several lines; a line end at its end begins no further line
 * @param hide returns a line without secrets of the caller
 */
export function logLines(entries: readonly LogLine[], hide: (text: string) => string = (text) => text): LogLines {
  const lines: LogLine[] = [];
  let cutBytes = 0;
  for (const { at, level, text } of entries) {
    const all = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
    for (const line of all) {
      const shown = hide(lastState(keepColours(line.toWellFormed())));
      const cut = cutLine(shown);
      if (cut !== shown) cutBytes += Buffer.byteLength(shown) - Buffer.byteLength(cut);
      lines.push({ at, level, text: cut });
    }
  }
  return { lines, cutBytes };
}

/** Returns the lines of a text that was received at a time; none for an empty text. */
export const textLines = (text: string, at: Date, hide?: (text: string) => string): LogLines =>
  logLines(text === "" ? [] : [{ at, level: null, text }], hide);

/** Returns what the last carriage return has left of a line, as progress bars use it. */
function lastState(line: string): string {
  if (!line.includes("\r")) return line;
  const states = line.split("\r").filter((state) => state !== "");
  return states.at(-1) ?? "";
}

function cutLine(line: string): string {
  if (line.length * 3 <= MAX_LINE_BYTES) return line;
  const bytes = Buffer.from(line);
  if (bytes.length <= MAX_LINE_BYTES) return line;
  let end = MAX_LINE_BYTES;
  while (((bytes[end] as number) & 0xc0) === 0x80) end--; // the middle of a character
  return bytes.toString("utf8", 0, end).replace(CUT_COLOUR, "");
}
