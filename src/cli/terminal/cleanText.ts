/**
 * Names, messages and replies are written by others, and a terminal obeys what is in them: escape sequences move the
 * cursor, set the title, answer for the person. So no text of the service is printed but through one of these.
 */

/** Control characters but tab and line feed, halves of characters, and what turns the direction of the text after it. */
const OBEYED = /(?![\t\n])\p{Cc}|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/gu;

/** The text with its lines as they are. */
export const cleanText = (text: string): string => text.replace(/\r\n?/g, "\n").replace(OBEYED, "\ufffd");

/** The text as one line. */
export const cleanLine = (text: string): string => cleanText(text.replace(/[\s\u0085]+/g, " ").trim());

/** The value as JSON: on one line, or indented for people. What a terminal would obey is escaped. */
export const cleanJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    OBEYED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
