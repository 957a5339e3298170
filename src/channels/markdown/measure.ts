import type { Part, TextStyle } from "./style.ts";

type Unit = TextStyle["unit"];

/** Returns the length of a text in the unit of a service. */
export function sizeOf(text: string, unit: Unit): number {
  if (unit === "utf16") return text.length;
  if (unit === "bytes") return Buffer.byteLength(text);
  let runes = text.length;
  for (let at = text.length - 1; at > 0; at -= 1) if (isPair(text, at)) runes -= 1;
  return runes;
}

/** Returns the maximum number of UTF-16 units in a text of the given size. */
export function maxUtf16Units(size: number, unit: Unit): number {
  return unit === "runes" ? 2 * size : size;
}

/** Returns whether the two UTF-16 units around `at` form a surrogate pair. */
export function isPair(text: string, at: number): boolean {
  return isBetween(text.charCodeAt(at), 0xdc00, 0xdfff) && isBetween(text.charCodeAt(at - 1), 0xd800, 0xdbff);
}

function isBetween(code: number, low: number, high: number): boolean {
  return code >= low && code <= high;
}

/** The lengths of a message with formatting and without. */
export interface Sizes {
  readonly text: number;
  readonly plain: number;
}

/**
 * Length at which Telegram's own server truncates HTML. Telegram's limit for a text counts the characters shown, which are
 * `plain` or fewer, without tags.
 */
const MAX_HTML_BYTES = 32_000;

export function sizesOf({ text, plain }: Part, { dialect, unit }: TextStyle): Sizes {
  return { text: sizeOf(text, dialect === "telegram-html" ? "bytes" : unit), plain: sizeOf(plain, unit) };
}

/** Returns the used share of a message's limits; a message fits if it is at most 1. */
export function fillOf({ text, plain }: Sizes, { dialect, limit }: TextStyle): number {
  return Math.max(plain / limit, text / (dialect === "telegram-html" ? MAX_HTML_BYTES : limit));
}
