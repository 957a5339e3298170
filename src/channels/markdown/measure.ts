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

/** The lengths of a message with formatting and without, and its number of formatted ranges. */
export interface Sizes {
  readonly text: number;
  readonly plain: number;
  /** 0 for dialects without a limit. */
  readonly ranges: number;
}

/**
 * Length at which Telegram's own server truncates HTML. Telegram's limit for a text counts the characters shown, which are
 * `plain` or fewer, without tags.
 */
const MAX_HTML_BYTES = 32_000;

/**
 * Maximum formatted ranges (entities) of a Telegram message. Telegram drops further ones without an error, and the addresses
 * of links with them. Telegram documents no limit; bot libraries do.
 */
const MAX_RANGES = 100;

/** Matches each tag that begins a range. The language of a code block is a part of its range. */
const RANGE = /<(?!\/|code class)/g;

export function sizesOf({ text, plain }: Part, { dialect, unit }: TextStyle): Sizes {
  const isHtml = dialect === "telegram-html";
  return {
    text: sizeOf(text, isHtml ? "bytes" : unit),
    plain: sizeOf(plain, unit),
    ranges: isHtml ? (text.match(RANGE)?.length ?? 0) : 0,
  };
}

/** Returns the used share of a message's limits; a message fits if it is at most 1. */
export function fillOf({ text, plain, ranges }: Sizes, { dialect, limit }: TextStyle): number {
  return Math.max(plain / limit, text / (dialect === "telegram-html" ? MAX_HTML_BYTES : limit), ranges / MAX_RANGES);
}
