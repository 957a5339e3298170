import { neutralizeMentions } from "../markdown/mentions.ts";

/** What becomes a link as it stands: a backslash in it would be taken for a part of the address. */
const ADDRESS = "(?:[a-z][a-z\\d+.-]{0,31}:\\/\\/|www\\.|[\\p{L}\\d.-]{1,100}\\.\\p{L}{2,4}\\/)\\S+";
const SPECIAL = new RegExp(`${ADDRESS}|[\\\\\`*_~|[]|<|&(?=#?\\w+;)`, "giu");

/**
 * The text such that Mattermost shows it letter by letter, without taking any of it for Markdown; as it is where that would
 * be longer than `limit` runes. Only what the web client's own parser and CommonMark, which the apps go by, read alike is
 * used: backslashes where both know them, else entities. Mentions, hashtags and `:emoji:` cannot be escaped there; a name may
 * end at a backslash, which makes a call of everybody out of `@here_x`.
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
  // The web client shows both of two backslashes that a letter follows.
  return found === "\\" && /\w/.test(line[at + 1] ?? "") ? found : `\\${found}`;
}

/** What makes a heading, a quote, a list or a block of code at the beginning of a line. */
function escapeStart(line: string): string {
  return line
    .replace(/^( *)([#>+-])/, "$1\\$2")
    .replace(/^( *\d+)([.)])/, "$1\\$2")
    .replace(/^( *)=(?==*\s*$)/, "$1&#61;")
    .replace(/^(?: {4}| {0,3}\t)/, (indent) => `&nbsp;${indent.slice(1)}`);
}
