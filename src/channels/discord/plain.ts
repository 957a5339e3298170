/** What becomes a link as it stands: a backslash in it would be taken for a part of the address. */
const SPECIAL = /https?:\/\/[^\s<]+|[\\*_~`|[<]|@(?=everyone|here)/g;

/**
 * The text such that Discord shows it letter by letter, without taking any of it for Markdown, mentions or emoji; as it is
 * where that would be longer than `limit`. A backslash before what is neither letter, digit nor space is not shown there.
 */
export function letterByLetter(text: string, limit: number): string {
  const escaped = text
    .replace(SPECIAL, (found) => (found.length > 1 ? found : `\\${found}`))
    .replace(/^([^\S\n\r\u2028\u2029]*)([#>+-])/gm, "$1\\$2")
    .replace(/^([^\S\n\r\u2028\u2029]*\d+)([.)])/gm, "$1\\$2");
  return escaped.length > limit ? text : escaped;
}
