import { isVisible } from "../../shared/text/text.ts";
import { asArray, asText } from "../api/pubsub.ts";
import { decodeText } from "./charset.ts";
import { htmlToText } from "./htmlToText.ts";

/** The text of a part, and the number of bytes that are missing from it: Gmail stores very large texts as attachments. */
interface Found {
  readonly text: string;
  readonly missingBytes: number;
}

const NONE: Found = { text: "", missingBytes: 0 };

/** Maximum nesting of parts; no ordinary mail exceeds it. */
const MAX_DEPTH = 50;

/** Maximum base64 characters decoded of one text: enough for the largest `maxBytes`, even if most of it is HTML markup. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

// biome-ignore lint/suspicious/noExplicitAny: a part of a mail can have any shape; each field is checked
type Part = any;

const PLAIN = /^text\/plain$/;
const HTML = /^text\/html$/;
const PLAIN_OR_HTML = /^text\/(?:plain|html)$/;
const ANY_TEXT = /^text\//;

/**
 * Returns all text of a mail that is not an attachment. Of alternatives it takes plain text, else HTML converted to text.
 * Text of other types, such as a calendar, is used only if there is no other.
 */
export function textOf(part: Part): Found {
  const found = mainText(part, 0);
  return hasContent(found) ? found : textOfType(ANY_TEXT, part, 0);
}

function mainText(part: Part, depth: number): Found {
  if (depth > MAX_DEPTH || isAttachment(part)) return NONE;
  if (typeOf(part) === "multipart/alternative") {
    const plain = textOfType(PLAIN, part, depth);
    return hasContent(plain) ? plain : textOfType(HTML, part, depth);
  }
  const parts = asArray(part?.parts);
  if (parts.length > 0) return join(parts.map((child) => mainText(child, depth + 1)));
  return textOfType(PLAIN_OR_HTML, part, depth);
}

function textOfType(wanted: RegExp, part: Part, depth: number): Found {
  if (depth > MAX_DEPTH || isAttachment(part)) return NONE;
  const parts = asArray(part?.parts);
  if (parts.length > 0) return join(parts.map((child) => textOfType(wanted, child, depth + 1)));
  const type = typeOf(part);
  return wanted.test(type) ? leafText(part, type) : NONE;
}

const hasContent = ({ text, missingBytes }: Found): boolean => isVisible(text) || missingBytes > 0;

function leafText(part: Part, type: string): Found {
  const { data, size, attachmentId } = part?.body ?? {};
  if (typeof data !== "string") {
    return attachmentId && Number.isSafeInteger(size) && size > 0 ? { text: "", missingBytes: size } : NONE;
  }
  const bytes = Buffer.from(data.slice(0, MAX_CHARACTERS), "base64url");
  const missingBytes = data.length > MAX_CHARACTERS ? Buffer.byteLength(data, "base64url") - bytes.length : 0;
  const text = decodeText(bytes, charsetOf(part), missingBytes > 0);
  return { text: type.endsWith("html") ? htmlToText(text) : text, missingBytes }; // also text/x-amp-html
}

function join(found: readonly Found[]): Found {
  const texts = found.map(({ text }) => text).filter(isVisible);
  return {
    text: texts.length === 1 ? texts[0]! : texts.map(trimLines).join("\n\n"),
    missingBytes: found.reduce((sum, { missingBytes }) => sum + missingBytes, 0),
  };
}

/** Returns the media type of a part; `text/plain` if it names none (RFC 2045). */
function typeOf(part: Part): string {
  const written = asText(part?.mimeType) || (headerOf(part, "content-type").split(";")[0] ?? "");
  return written.trim().toLowerCase() || "text/plain";
}

function isAttachment(part: Part): boolean {
  return asText(part?.filename) !== "" || /^\s*attachment\b/i.test(headerOf(part, "content-disposition"));
}

function charsetOf(part: Part): string | undefined {
  return /;\s*charset\s*=\s*["']?([^"';\s]{1,64})/i.exec(headerOf(part, "content-type"))?.[1];
}

/** Returns the value of the first header with this lower-case name; "" if there is none. */
export function headerOf(part: Part, name: string): string {
  const header = asArray(part?.headers).find((one) => asText(one?.name).toLowerCase() === name);
  return asText(header?.value);
}

/** Removes blank lines around a text. The indentation of its first line may belong to a table or code. */
export const trimLines = (text: string): string => text.replace(/^(?:[^\S\n]*\n)+/, "").trimEnd();
