import { hash } from "node:crypto";
import { readMailSender } from "../../config/channels/channels.ts";
import type { OutgoingMessage } from "../channel.ts";

/** Maximum characters of a subject: mail programs show fewer. */
const MAX_SUBJECT_CHARS = 150;
const ENTITIES: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };

/**
 * Writes the mail of a message: plain text, and HTML unless the message must be plain. The subject is the title, or else the
 * first line. The Message-ID is the same for each attempt, by which many mail programs recognize a repetition.
 */
export async function writeMail(
  { to, text, plainText, plain, title, link, key }: OutgoingMessage,
  from: string,
): Promise<Buffer> {
  const sender = readMailSender(from);
  const shown = plain ? text : plainText;
  const { default: MailComposer } = await import("nodemailer/lib/mail-composer"); // Only this channel needs it.
  const mail = new MailComposer({
    from: sender,
    to: { name: "", address: to },
    subject: subjectOf(title ?? firstLine(shown)),
    messageId: `<${hash("sha256", `${key} ${to}`, "hex").slice(0, 40)}@${sender.address.split("@")[1]}>`,
    // Asks programs that answer by themselves not to.
    headers: { "Auto-Submitted": "auto-generated", "X-Auto-Response-Suppress": "All" },
    text: link && !shown.includes(link) ? `${shown}\n\n${link}\n` : `${shown}\n`,
    ...(!plain && { html: toHtml(text, link) }),
    textEncoding: "quoted-printable",
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return mail.compile().build();
}

/** Returns a text on one line, cut to the length of a subject. */
function subjectOf(text: string): string {
  const words = text.replace(/[\s\p{Cc}]+/gu, " ").trim();
  return words.length > MAX_SUBJECT_CHARS ? `${words.slice(0, MAX_SUBJECT_CHARS - 1).toWellFormed()}…` : words;
}

const firstLine = (text: string): string => text.trim().split("\n", 1)[0] as string;

/** Turns a text in the dialect `html` into a document: mail programs ignore line ends and indentation outside of code. */
function toHtml(text: string, link: string | undefined): string {
  const pieces = text.split(/(<pre>[\s\S]*?<\/pre>\n?)/);
  const body = pieces.map((piece) => (piece.startsWith("<pre>") ? piece.trimEnd() : withLineBreaks(piece))).join("");
  const address = escapeHtml(link ?? "");
  const anchor = `<a href="${address}">${address}</a>`;
  // The default text of an event ends with the address.
  const linked = link && body.endsWith(address) ? body.slice(0, -address.length) + anchor : body;
  const more = link && !body.includes(address) ? `<p>${anchor}</p>\n` : "";
  return `<!DOCTYPE html>\n<html>\n<head><meta charset="utf-8"></head>\n<body>\n<div>${linked}</div>\n${more}</body>\n</html>\n`;
}

const withLineBreaks = (html: string): string =>
  html
    .replace(/(^|\n)( +)/g, (_, end: string, spaces: string) => end + "&nbsp;".repeat(spaces.length))
    .replace(/(<\/blockquote>)\n/g, "$1")
    .replaceAll("\n", "<br>\n");

const escapeHtml = (text: string): string => text.replace(/[&<>"]/g, (character) => ENTITIES[character] ?? character);
