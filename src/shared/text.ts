/** What identifiers look like: no control characters. */
export const IDENTIFIER_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";

const VISIBLE = /[^\s\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}]/u;

/** Whether a text has something to see: not only white space, control and other invisible characters. */
export function isVisible(text: string): boolean {
  return VISIBLE.test(text);
}
