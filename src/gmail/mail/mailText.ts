import { isVisible } from "../../shared/text.ts";
import { asList, asText } from "../api/lenient.ts";
import { decodeText } from "./charset.ts";
import { htmlText } from "./htmlText.ts";

/** What there is to read in a part, and the bytes that its text has elsewhere: Gmail keeps very large ones apart. */
interface Found {
  readonly text: string;
  readonly missingBytes: number;
}

const NONE: Found = { text: "", missingBytes: 0 };

/** Nobody who writes to be read nests deeper. */
const MAX_DEPTH = 50;

/** Of one text no more is decoded, as base64: enough for the largest `maxBytes` also where most of it is HTML's marks. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

// biome-ignore lint/suspicious/noExplicitAny: a part of a mail may have any shape; each field is looked at with care
type Part = any;

const PLAIN = /^text\/plain$/;
const HTML = /^text\/html$/;
const PLAIN_OR_HTML = /^text\/(?:plain|html)$/;
const ANY_TEXT = /^text\//;

/**
 * All text that is not an attachment; of alternatives the plain one, or what an HTML one says. Text of other types, such as a
 * calendar's, only where there is nothing else to read.
 */
export function textOf(part: Part): Found {
  const found = ordinaryText(part, 0);
  return saysSomething(found) ? found : textOfType(ANY_TEXT, part, 0);
}

function ordinaryText(part: Part, depth: number): Found {
  if (depth > MAX_DEPTH || isAttachment(part)) return NONE;
  if (typeOf(part) === "multipart/alternative") {
    const plain = textOfType(PLAIN, part, depth);
    return saysSomething(plain) ? plain : textOfType(HTML, part, depth);
  }
  const parts = asList(part?.parts);
  if (parts.length > 0) return joined(parts.map((child) => ordinaryText(child, depth + 1)));
  return textOfType(PLAIN_OR_HTML, part, depth);
}

function textOfType(wanted: RegExp, part: Part, depth: number): Found {
  if (depth > MAX_DEPTH || isAttachment(part)) return NONE;
  const parts = asList(part?.parts);
  if (parts.length > 0) return joined(parts.map((child) => textOfType(wanted, child, depth + 1)));
  const type = typeOf(part);
  return wanted.test(type) ? leafText(part, type) : NONE;
}

const saysSomething = ({ text, missingBytes }: Found): boolean => isVisible(text) || missingBytes > 0;

function leafText(part: Part, type: string): Found {
  const { data, size, attachmentId } = part?.body ?? {};
  if (typeof data !== "string") {
    return attachmentId && Number.isSafeInteger(size) && size > 0 ? { text: "", missingBytes: size } : NONE;
  }
  const bytes = Buffer.from(data.slice(0, MAX_CHARACTERS), "base64url");
  const missingBytes = data.length > MAX_CHARACTERS ? Buffer.byteLength(data, "base64url") - bytes.length : 0;
  const text = decodeText(bytes, charsetOf(part), missingBytes > 0);
  return { text: type.endsWith("html") ? htmlText(text) : text, missingBytes }; // text/x-amp-html, say
}

function joined(found: readonly Found[]): Found {
  const texts = found.map(({ text }) => text).filter(isVisible);
  return {
    text: texts.length === 1 ? texts[0]! : texts.map((text) => text.trim()).join("\n\n"),
    missingBytes: found.reduce((sum, { missingBytes }) => sum + missingBytes, 0),
  };
}

/** A part that says nothing about itself is plain text (RFC 2045). */
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

/** The first header of this name; "" where there is none. */
export function headerOf(part: Part, name: string): string {
  const header = asList(part?.headers).find((one) => asText(one?.name).toLowerCase() === name);
  return asText(header?.value);
}
