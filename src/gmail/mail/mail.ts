import { sanitizeText } from "../../shared/text/sanitizeText.ts";
import { asArray, asText } from "../api/pubsub.ts";
import { decodeHeader } from "./headerWords.ts";
import { htmlToText } from "./htmlToText.ts";
import { headerOf, textOf, trimLines } from "./mailText.ts";

/** A mail in the form that mappings and templates receive. */
export interface Mail {
  readonly id: string;
  readonly threadId: string;
  readonly labelIds: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  /** ISO 8601 time when Gmail received the mail, else the sender's date; "" if both are missing. */
  readonly date: string;
  readonly snippet: string;
  /** Plain text with "\n" as line end; absent unless requested. */
  readonly body?: string;
}

/** Labels of mails that never become runs: discarded mails and the user's own. */
const SKIPPED_LABELS: readonly string[] = ["SPAM", "TRASH", "DRAFT", "SENT"];

export const isSkippedMail = (labelIds: readonly string[]): boolean =>
  labelIds.some((labelId) => SKIPPED_LABELS.includes(labelId));

/** Maximum length of a header's value; a list of recipients can be arbitrarily long. */
const MAX_HEADER_CHARACTERS = 2_000;

/**
 * Converts a message resource of Gmail (format full, or metadata without a body).
 * @param message any value; fields that are missing or have another type become empty
 * @param options.maxBytes maximum size of the body in bytes of UTF-8, including the note about omitted bytes
 */
export function readMail(message: unknown, options: { includeBody: boolean; maxBytes: number }): Mail {
  // biome-ignore lint/suspicious/noExplicitAny: each field is checked
  const { id, threadId, labelIds, snippet, internalDate, payload } = (message ?? {}) as any;
  const header = (name: string) =>
    truncateHeader(decodeHeader(headerOf(payload, name).slice(0, 50 * MAX_HEADER_CHARACTERS)));
  const mail = {
    id: asText(id),
    threadId: asText(threadId),
    labelIds: asArray(labelIds).map(asText).filter(Boolean),
    from: header("from"),
    to: header("to"),
    subject: header("subject"),
    date: isoDate(Number(asText(internalDate) || Number.NaN)) || isoDate(Date.parse(headerOf(payload, "date"))),
    snippet: decodeHeader(htmlToText(asText(snippet))),
  };
  if (!options.includeBody) return mail;
  const { text, missingBytes } = textOf(payload);
  return { ...mail, body: truncate(trimLines(sanitizeText(text)), missingBytes, options.maxBytes) };
}

function isoDate(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

function truncateHeader(text: string): string {
  return text.length > MAX_HEADER_CHARACTERS ? `${text.slice(0, MAX_HEADER_CHARACTERS - 1)}…`.toWellFormed() : text;
}

/**
 * Truncates a text to `maxBytes` at a character boundary, including a note about the omitted bytes. The note is left out if
 * it alone would not fit.
 */
function truncate(text: string, missingBytes: number, maxBytes: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes && missingBytes === 0) return text;
  const room = maxBytes - Buffer.byteLength(truncationNote(bytes + missingBytes));
  const { read, written } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, room < 0 ? maxBytes : room)));
  const kept = text.slice(0, read);
  return room < 0 ? kept : `${kept}${truncationNote(bytes - written + missingBytes)}`.trim();
}

const truncationNote = (missingBytes: number) => `\n[${missingBytes} bytes more]`;
