/** The JSON Schema pattern of identifiers, which must not contain control characters. */
export const IDENTIFIER_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

/** Maximum characters of a callback's address: longer ones are refused by many servers. */
export const MAX_CALLBACK_URL_CHARS = 2_048;

const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/u;

/** Returns whether a text contains a visible character: not only white space, control and other invisible characters. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}

/** Maximum length of an identifier. */
export const MAX_IDENTIFIER_LENGTH = 256;

/** Maximum length of a recipient's name, in UTF-16 units. */
export const MAX_RECIPIENT = 512;

/** The length of a suffix such as `-20260301T120000000Z`. */
const SUFFIX_LENGTH = 20;

/** Returns an identifier as far as a suffix leaves room for it. */
const cut = (identifier: string): string => identifier.slice(0, MAX_IDENTIFIER_LENGTH - SUFFIX_LENGTH).toWellFormed();

/** Returns an identifier with a time as its suffix, for a record that follows an ended one. Cuts it where there is no room. */
export const withTimeSuffix = (identifier: string, time: Date): string =>
  `${cut(identifier)}-${time.toISOString().replace(/[-:.]/g, "")}`;

/** Returns what identifiers with a suffix begin with, and a pattern of those that begin with it. */
export function suffixedIds(identifier: string): { prefix: string; pattern: RegExp } {
  const prefix = cut(identifier);
  return { prefix, pattern: new RegExp(`^[\\s\\S]{${[...prefix].length}}-\\d{8}T\\d{9}Z$`) };
}
