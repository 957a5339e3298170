/**
 * Names, messages and replies are untrusted, and a terminal interprets escape sequences in them, which move the cursor, set
 * the title or answer for the user. Every text from the service is therefore printed through one of these functions.
 */

/** Control characters except tab and line feed, single surrogates, and characters that change the direction of text. */
const UNSAFE = /(?![\t\n])\p{Cc}|\p{Cs}|[\u202a-\u202e\u2066-\u2069]/gu;

/** Returns a safe text with the same lines. */
export const cleanText = (text: string): string => text.replace(/\r\n?/g, "\n").replace(UNSAFE, "\ufffd");

/** Returns a safe text on one line. */
export const cleanLine = (text: string): string => cleanText(text.replace(/[\s\u0085]+/g, " ").trim());

/** Returns a value as JSON, on one line or indented, with unsafe characters escaped. */
export const cleanJson = (value: unknown, indent?: number): string =>
  JSON.stringify(value, null, indent).replace(
    UNSAFE,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
