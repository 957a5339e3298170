import { asArray, asText } from "../api/coerce.ts";
import { decodeHeader } from "./headerWords.ts";
import { htmlToText } from "./htmlToText.ts";
import { headerOf, textOf } from "./mailText.ts";

/** A mail as hooks and templates see it. */
export interface Mail {
  readonly id: string;
  readonly threadId: string;
  readonly labelIds: readonly string[];
  readonly from: string;
  readonly to: string;
  readonly subject: string;
  /** When Gmail received it, or else what its sender wrote; ISO 8601; "" where neither is known. */
  readonly date: string;
  readonly snippet: string;
  /** Plain text with "\n"; left out where it was not wanted. */
  readonly body?: string;
}

/** Nobody's news: what Gmail or the user threw away, and what the user writes. */
const SKIPPED_LABELS: readonly string[] = ["SPAM", "TRASH", "DRAFT", "SENT"];

export const isSkippedMail = (labelIds: readonly string[]): boolean =>
  labelIds.some((labelId) => SKIPPED_LABELS.includes(labelId));

/** A list of recipients may have any length. */
const MAX_HEADER_CHARACTERS = 2_000;

/**
 * Reads a message resource of Gmail (format full, or metadata where no body is wanted).
 * @param message anything: what is missing or of another shape is read as empty
 * @param options.maxBytes the body's most, in UTF-8, with the note of what is missing
 */
export function readMail(message: unknown, options: { includeBody: boolean; maxBytes: number }): Mail {
  // biome-ignore lint/suspicious/noExplicitAny: each field is looked at with care
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
  return { ...mail, body: truncate(normalize(text), missingBytes, options.maxBytes) };
}

const normalize = (text: string) =>
  text
    .replace(/\r\n?/g, "\n")
    .replace(/[^\P{Cc}\n\t]/gu, "")
    .trim()
    .toWellFormed();

function isoDate(time: number): string {
  const date = new Date(time);
  return Number.isNaN(date.getTime()) ? "" : date.toISOString();
}

function truncateHeader(text: string): string {
  return text.length > MAX_HEADER_CHARACTERS ? `${text.slice(0, MAX_HEADER_CHARACTERS - 1)}…`.toWellFormed() : text;
}

/** Whole characters only; the note takes its place from the text, and is left out where it alone would not fit. */
function truncate(text: string, missingBytes: number, maxBytes: number): string {
  const bytes = Buffer.byteLength(text);
  if (bytes <= maxBytes && missingBytes === 0) return text;
  const room = maxBytes - Buffer.byteLength(truncationNote(bytes + missingBytes));
  const { read, written } = new TextEncoder().encodeInto(text, new Uint8Array(Math.max(0, room < 0 ? maxBytes : room)));
  const kept = text.slice(0, read);
  return room < 0 ? kept : `${kept}${truncationNote(bytes - written + missingBytes)}`.trim();
}

const truncationNote = (missingBytes: number) => `\n[${missingBytes} bytes more]`;
