import { neutralizeMentions } from "../markdown/mentions.ts";

/** Matches what Mattermost turns into a link; a backslash would become part of the address. */
const ADDRESS = "(?:[a-z][a-z\\d+.-]{0,31}:\\/\\/|www\\.|[\\p{L}\\d.-]{1,100}\\.\\p{L}{2,4}\\/)\\S+";
const SPECIAL = new RegExp(`${ADDRESS}|[\\\\\`*_~|[]|<|&(?=#?\\w+;)`, "giu");

/**
 * Escapes a text so that Mattermost shows it unchanged, without Markdown. Returns the text unescaped if the result would
 * exceed `limit` runes. Uses only escapes that the web client's own parser and CommonMark (used by the apps) share:
 * backslashes where both support them, else entities. Mentions, hashtags and `:emoji:` cannot be escaped. A name may end at a
 * backslash, so that an escaped `@here_x` would mention everybody; `neutralizeMentions` prevents that.
 */
export function escapeMarkdown(text: string, limit: number): string {
  const lines = text.split("\n").map((line) => escapeStart(line.replace(SPECIAL, escapeCharacter)));
  const escaped = neutralizeMentions(lines.join("\n"), "markdown");
  return [...escaped].length > limit ? text : escaped;
}

function escapeCharacter(found: string, at: number, line: string): string {
  if (found.length > 1) return found;
  if (found === "<") return "&lt;";
  if (found === "&") return "&amp;";
  // The web client shows both backslashes of `\\` before a letter.
  return found === "\\" && /\w/.test(line[at + 1] ?? "") ? found : `\\${found}`;
}

/** Escapes the beginning of a line that would start a heading, a quote, a list or a block of code. */
function escapeStart(line: string): string {
  return line
    .replace(/^( *)([#>+-])/, "$1\\$2")
    .replace(/^( *\d+)([.)])/, "$1\\$2")
    .replace(/^( *)=(?==*\s*$)/, "$1&#61;")
    .replace(/^(?: {4}| {0,3}\t)/, (indent) => `&nbsp;${indent.slice(1)}`);
}
