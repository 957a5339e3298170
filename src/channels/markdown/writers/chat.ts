import type { Mark } from "../inline.ts";
import { ZERO_WIDTH_SPACE } from "../mentions.ts";
import { PLAIN, type Writer } from "../writer.ts";

const WHATSAPP: Partial<Record<Mark["kind"], string>> = { bold: "*", italic: "_", strike: "~" };
const SIGNAL: Partial<Record<Mark["kind"], string>> = { bold: "**", italic: "*", strike: "~" };

/**
 * WhatsApp's markup. Marks cannot be escaped, so that text that looks like markup is formatted. They work at the
 * boundaries of words only, and cannot span lines.
 */
export const whatsapp: Writer = {
  ...PLAIN,
  code: (code) => `\`${code}\``,
  fence: (code) => `\`\`\`\n${code.replace(/`(?=``)/g, `\`${ZERO_WIDTH_SPACE}`)}\n\`\`\``,
  open: ({ kind }) => WHATSAPP[kind] ?? "",
  close: ({ kind }) => WHATSAPP[kind] ?? "",
  address: (address) => `: ${address}`,
  heading: () => undefined,
  bullet: "-",
  marksEndAtLine: true,
  marksOnlyAtWords: true,
  excludesMarksFromCode: true,
};

/**
 * The markup of signal-cli-rest-api's `text_mode: "styled"` (its textstyleparser.go). A backslash escapes a mark, in code too.
 * Several asterisks in a row are one mark, and a backslash at the end of a text would escape a mark after it; a zero-width
 * space separates both cases.
 */
export const signal: Writer = {
  ...PLAIN,
  text: escapeStyles,
  escaped: escapeStyles,
  code: markCode,
  fence: markCode,
  open: ({ kind }) => SIGNAL[kind] ?? "",
  close: ({ kind }) => SIGNAL[kind] ?? "",
  heading: () => undefined,
  join: (pieces) =>
    pieces
      .map((piece, at) =>
        /^[*~`]/.test(piece) && /[\\*~`|]$/.test(pieces[at - 1] ?? "") ? ZERO_WIDTH_SPACE + piece : piece,
      )
      .join(""),
};

function markCode(code: string): string {
  return `\`${escapeStyles(code)}${code.endsWith("\\") ? ZERO_WIDTH_SPACE : ""}\``;
}

function escapeStyles(text: string): string {
  return text.replace(/[*~`|]/g, "\\$&");
}
