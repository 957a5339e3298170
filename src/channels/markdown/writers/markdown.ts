import type { Inline, Mark } from "../inline.ts";
import { ZERO_WIDTH_SPACE } from "../mentions.ts";
import { PLAIN, type Writer, writeInline } from "../writer.ts";

/** Matches characters that need a backslash anywhere in a line. */
const MARKS = /[\\`*_[\]~|]/g;

/**
 * Matches a bracket that a service might read as the end of a link label or reference, although our parser did not. Actual
 * links are written by `close`.
 */
const LABEL_END = /\](?=[(:[]|$)/g;

/**
 * Markdown for Mattermost and Teams, close to the source. Both read `&lt;` as text, which escapes anything like a tag.
 * Addresses are encoded so that no character in them ends the link.
 */
export const markdown: Writer = {
  ...PLAIN,
  text: (text) => text.replace(/<(?=[a-z/!?])/gi, "&lt;").replace(LABEL_END, "\\]"),
  escaped: (text) => text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replace(MARKS, "\\$&"),
  code(code, ticks) {
    const space = /^`|`$|^ .* $/.test(code) ? " " : "";
    return `${ticks}${space}${code}${space}${ticks}`;
  },
  fence(code, language) {
    const ticks = "`".repeat(Math.max(3, longest(code, /`+/g) + 1));
    return `${ticks}${language}\n${code}\n${ticks}`;
  },
  open: (mark) => (mark.isLabelAddress ? "<" : (OPEN[mark.kind] ?? mark.markup)),
  close(mark) {
    if (mark.isLabelAddress) return ">";
    return mark.kind === "link" ? `](${escapeAddress(mark.href)})` : (OPEN[mark.kind] ?? mark.markup);
  },
  hidesAddress: ({ href, isLabelAddress, markup }) => (!isLabelAddress || markup === "autolink") && !/^tg:/i.test(href),
  // An exclamation mark before a link would turn it into an image.
  join: (pieces) => pieces.map((piece, at) => (pieces[at + 1] === "[" ? piece.replace(/!$/, "\\!") : piece)).join(""),
  heading: (text, level) => `${"#".repeat(level)} ${text.replace(/(?<![^ ])#+$/, "\\$&")}`,
  lineStarts,
  table: (rows) => writeTable(rows, markdown),
  bullet: "-",
  rule: "---",
  hardLine: "  \n",
  indentsCode: true,
};

const OPEN: Partial<Record<Mark["kind"], string>> = { link: "[", strike: "~~" };

/** Markdown for Slack's field `markdown_text`, where Slack interprets `<…>` as well, so that both brackets are escaped. */
export const slack: Writer = {
  ...markdown,
  text: (text) => text.replaceAll("<", "&lt;").replaceAll(">", "&gt;").replace(LABEL_END, "\\]"),
  escaped: (text) => markdown.escaped(text).replaceAll(">", "&gt;"),
  hidesAddress: (mark) => !mark.isLabelAddress && markdown.hidesAddress(mark),
  table: (rows) => writeTable(rows, slack),
};

/** The subset of Markdown that Discord supports: three levels of headings, no tables, no entities. */
export const discord: Writer = {
  ...markdown,
  text: (text) => text.replaceAll("||", "\\|\\|").replace(LABEL_END, "\\]"),
  escaped: (text) => text.replace(MARKS, "\\$&").replaceAll("<", "\\<"),
  fence: (code, language) => `\`\`\`${language}\n${code.replace(/`(?=``)/g, `\`${ZERO_WIDTH_SPACE}`)}\n\`\`\``,
  open: (mark) => (mark.kind === "bold" ? "**" : markdown.open(mark)),
  close: (mark) => (mark.kind === "bold" ? "**" : markdown.close(mark)),
  hidesAddress: ({ href, isLabelAddress }) => !isLabelAddress && /^https?:\/\/./i.test(href),
  heading: (text, level) => (level <= 3 ? markdown.heading(text, level) : undefined),
  table: () => undefined,
  rule: "———",
  hardLine: "\n",
};

function longest(text: string, pattern: RegExp): number {
  return (text.match(pattern) ?? []).reduce((maxUnits, { length }) => Math.max(maxUnits, length), 0);
}

function escapeAddress(address: string): string {
  return address.replace(/[\s<>()\\]/g, (character) => `%${character.charCodeAt(0).toString(16).padStart(2, "0")}`);
}

function lineStarts(text: string): string {
  return text
    .replace(
      /^( *)(?=(?:#{1,6}|[-+*]|-#)(?:\s|$)|>|=+\s*$|[-:|][-:| \t]*$|(?<mark>[-*_])[ \t]*(?:\k<mark>[ \t]*){2,}$|~{3}|`{3,}[^`\n]*$)/gm,
      "$1\\",
    )
    .replace(/^( *\d{1,9})(?=[.)](?:\s|$))/gm, "$1\\");
}

function writeTable(rows: readonly (readonly Inline[])[], writer: Writer): string {
  const lines = rows.map((row) => {
    const cells = row.map((cell) => writeInline(cell, 0, cell.text.length, writer).replace(/\\?\||\n/g, escapeInCell));
    return `| ${cells.join(" | ")} |`;
  });
  lines.splice(1, 0, `|${" --- |".repeat(rows[0]?.length ?? 0)}`);
  return lines.join("\n");
}

function escapeInCell(found: string): string {
  return found === "\n" ? " " : "\\|";
}
