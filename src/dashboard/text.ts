/** Characters that change the direction of the text after them, so that a name can look like another one. */
const DIRECTION_CONTROLS = /[\u202A-\u202E\u2066-\u2069]/g;

/** Returns a text with each character that changes its direction shown as a box. */
export const visible = (text: string): string => text.replace(DIRECTION_CONTROLS, "▯");

/**
 * Matches what a line of plain text leaves out of Markdown: marks of headings, lists and quotes, emphasis (of which the group
 * stays), the targets of links, and the line below the head of a table.
 */
const MARKUP =
  /^(?:#{1,6}|[-+*>]|\d{1,9}[.)])\s+|\\(?=[!-/:-@[-`{-~])|\*\*|(?<![\\\w*])\*([^\s*](?:[^*]*[^\s*])?)\*(?![\w*])|~~|`|!?\[(?=[^[\]]*\]\()|\]\([^)]*\)?|\|(?:\s*:?-+:?\s*\|)+/g;

/** Returns a line of Markdown without its marks. */
export const plainText = (line: string): string => visible(line.replace(MARKUP, "$1"));

/** Maximum length of the first words of a text. */
const MAX_FIRST_WORDS = 300;

/** Returns the first words of a Markdown text as one line without marks. */
export const firstWords = (text: string): string =>
  text
    .trimStart()
    .slice(0, MAX_FIRST_WORDS)
    .split("\n")
    .map((line) => plainText(line.trim()))
    .filter((line) => line !== "")
    .join(" ");

/** Returns a text as it is shown in a paragraph: without blank lines at its beginning, and with direction controls visible. */
export const shownText = (text: string): string => visible(text.replace(/^(?:[^\S\n]*\n)+/, ""));
