/** The JSON Schema pattern of identifiers, which must not contain control characters. */
export const IDENTIFIER_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/u;

/** Returns whether a text contains a visible character: not only white space, control and other invisible characters. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}

/** Maximum length of an identifier. */
const MAX_IDENTIFIER_LENGTH = 256;

/** Returns an identifier with a time as its suffix, for a record that follows an ended one. Cuts it where there is no room. */
export function withTimeSuffix(identifier: string, time: Date): string {
  const suffix = `-${time.toISOString().replace(/[-:.]/g, "")}`;
  return identifier.slice(0, MAX_IDENTIFIER_LENGTH - suffix.length).toWellFormed() + suffix;
}
