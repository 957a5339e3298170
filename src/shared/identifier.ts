/** What identifiers look like: no control characters. */
export const IDENTIFIER_PATTERN = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
