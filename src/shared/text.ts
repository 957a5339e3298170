/** The JSON Schema pattern of identifiers, which must not contain control characters. */
export const IDENTIFIER_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/u;

/** Returns whether a text contains a visible character: not only white space, control and other invisible characters. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}
