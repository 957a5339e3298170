import type { Part, TextStyle } from "./style.ts";

type Unit = TextStyle["unit"];

/** How long a text is, as a service counts it. */
export function sizeOf(text: string, unit: Unit): number {
  if (unit === "utf16") return text.length;
  if (unit === "bytes") return Buffer.byteLength(text);
  let runes = text.length;
  for (let at = text.length - 1; at > 0; at -= 1) if (isPair(text, at)) runes -= 1;
  return runes;
}

/** In how many UTF-16 units a text of that size surely ends. */
export function maxUtf16Units(size: number, unit: Unit): number {
  return unit === "runes" ? 2 * size : size;
}

/** Whether the two UTF-16 units around `at` are one code point. */
export function isPair(text: string, at: number): boolean {
  return isBetween(text.charCodeAt(at), 0xdc00, 0xdfff) && isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff);
}

function isBetween(code: number, low: number, high: number): boolean {
  return code >= low && code <= high;
}

/** How long a message is, formatted and plain. */
export interface Sizes {
  readonly text: number;
  readonly plain: number;
}

/** As Telegram's own server cuts it; its limit for a text counts what is shown, which is `plain` or less, and no tags. */
const MAX_HTML_BYTES = 32_000;

export function sizesOf({ text, plain }: Part, { dialect, unit }: TextStyle): Sizes {
  return { text: sizeOf(text, dialect === "telegram-html" ? "bytes" : unit), plain: sizeOf(plain, unit) };
}

/** How much of what a message may have that is; it may not be more than 1. */
export function fillOf({ text, plain }: Sizes, { dialect, limit }: TextStyle): number {
  return Math.max(plain / limit, text / (dialect === "telegram-html" ? MAX_HTML_BYTES : limit));
}
