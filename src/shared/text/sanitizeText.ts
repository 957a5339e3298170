/**
 * Matches the control sequences of ECMA-48 in their 7-bit and 8-bit forms: strings up to their terminator (titles, links
 * and pictures of terminals), control sequences (colours, movements), and other escape sequences. Of a string without an
 * end, only the introducer is matched, so that no text is lost.
 */
const ESCAPE_SEQUENCE =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences consist of control characters
  /(?:\x1b[PX\]^_]|[\x90\x98\x9d-\x9f])[^\x07\x18\x1a\x1b\x90\x98\x9b-\x9f]*(?:\x07|\x1b\\|\x9c)|(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]?|\x1b[ -/]*[0-~]/g;

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches the control characters to remove
const CONTROLS = /[\0-\x08\x0e-\x1b\x1f\x7f-\x84\x86-\x9f]/g;

/** Control characters that end a line or a page, as Unicode and Python's `splitlines` count them. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters that end lines
const LINE_END = /\r\n?|[\v\f\x1c-\x1e\x85]/g;

/** Removes the sequences by which programs set colours, titles and the cursor of a terminal. */
export function stripEscapeSequences(text: string): string {
  // Most texts have none, and a search for single characters is faster.
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the characters that begin a sequence
  return /[\x1b\x90-\x9f]/.test(text) ? text.replace(ESCAPE_SEQUENCE, "") : text;
}

/** The sequences that set colours and weights (SGR), which a log keeps. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with a control character
const COLOUR = /^\x1b\[[\d;:]*m$/;

/** Removes escape sequences other than colours, and control characters other than tabs, line feeds and carriage returns. */
export function keepColours(text: string): string {
  // Most lines have none, and the search for single characters is faster.
  if (!UNPRINTABLE.test(text)) return text;
  const coloured = text.replace(ESCAPE_SEQUENCE, (sequence) => (COLOUR.test(sequence) ? sequence : ""));
  return coloured.replace(UNPRINTABLE_EXCEPT_COLOURS, "");
}

// biome-ignore lint/suspicious/noControlCharactersInRegex: matches the control characters to remove
const UNPRINTABLE = /[\0-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f]/;
// biome-ignore lint/suspicious/noControlCharactersInRegex: matches the control characters to remove
const UNPRINTABLE_EXCEPT_COLOURS = /\x1b(?!\[[\d;:]*m)|[\0-\x08\x0b\x0c\x0e-\x1a\x1c-\x1f\x7f-\x9f]/g;

/**
 * Normalizes a text for readers: each line end becomes `\n`, half a surrogate pair becomes U+FFFD, and escape sequences and
 * control characters other than tabs are removed, which no service shows and some refuse.
 */
export function sanitizeText(text: string): string {
  return stripEscapeSequences(text.toWellFormed()).replace(LINE_END, "\n").replace(CONTROLS, "");
}

/** Returns a function that hides a secret in a text whose only escape sequences are colours, also where one divides the secret. */
export function hiderOf(secret: string): (text: string) => string {
  let pattern: RegExp | undefined;
  return (text) => {
    if (!text.includes("\x1b")) return text.replaceAll(secret, MASK);
    pattern ??= new RegExp([...secret].map((one) => `\\u{${one.codePointAt(0)?.toString(16)}}`).join(COLOURS), "gu");
    return text.replace(pattern, (found) => MASK + (found.match(COLOUR_WITHIN) ?? []).join(""));
  };
}

/** The text that stands in place of a secret. */
export const MASK = "***";
// biome-ignore lint/suspicious/noControlCharactersInRegex: the sequences begin with a control character
const COLOUR_WITHIN = /\x1b\[[\d;:]*m/g;
const COLOURS = `(?:${COLOUR_WITHIN.source})*`;
