import { CONFUSABLES } from "./confusables.ts";

/** What a text looks like, for the search of look-alikes; `at` leads back to the text. */
export interface Folded {
  readonly text: string;
  /** Where in the original the character begins that stands at `index` here; the original's length for the end. */
  at(index: number): number;
}

/** Zero-width and control characters, marks, variation selectors, tags, halves of surrogate pairs: nothing to be seen. */
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}\p{M}]$/u;

/** Long decompositions are Arabic and CJK; none of ours is longer. */
const MAX_UNITS = 8;

/**
 * Returns the text without what cannot be seen, every look-alike replaced by what it looks like, odd spaces by U+00A0, other
 * line ends by `\n`. Letters of ASCII keep their case, and capitals that look like one become a capital; other letters are in
 * lower case, so that `toLowerCase` keeps the length. Signs of two units, as emoji are, become U+FFFD. `tags` says what
 * becomes of the invisible twins of ASCII at U+E0000: dropped like the rest (they may stand between letters), or read as the
 * letters they are twins of (they may spell a token). Linear in the text's length.
 */
export function fold(text: string, tags: "dropped" | "read" = "dropped"): Folded {
  if (!/[^\t\n\r -~]/.test(text)) return { text, at: (index) => index };
  const seen = new Map<number, string>();
  let units = new Uint16Array(text.length + MAX_UNITS);
  let positions = new Uint32Array(units.length);
  let length = 0;
  for (let i = 0; i < text.length; ) {
    const code = text.codePointAt(i) as number;
    let alike = seen.get(code);
    if (alike === undefined) {
      alike = foldOne(code, tags);
      seen.set(code, alike);
    }
    if (length + MAX_UNITS > units.length) {
      units = grown(units, new Uint16Array(units.length * 2));
      positions = grown(positions, new Uint32Array(units.length));
    }
    for (let unit = 0; unit < alike.length; unit++) {
      units[length] = alike.charCodeAt(unit);
      positions[length++] = i;
    }
    i += code > 0xffff ? 2 : 1;
  }
  return {
    text: Buffer.from(units.buffer, 0, length * 2).toString("utf16le"),
    at: (index) => (index < length ? (positions[index] as number) : text.length),
  };
}

function grown<T extends Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function foldOne(code: number, tags: "dropped" | "read"): string {
  const char = String.fromCodePoint(code);
  if (code === 0x09) return char;
  // U+001C to U+001E end a line for Python's splitlines.
  if ((code >= 0x1c && code <= 0x1e) || /[\n\v\f\r\u0085\u2028\u2029]/.test(char)) return "\n";
  if (code < 0x7f && code >= 0x20) return char;
  if (code >= 0xe0020 && code < 0xe007f && tags === "read") return String.fromCharCode(code - 0xe0000);
  // Some marks look like letters, so the table is asked before marks are dropped.
  if (INVISIBLE.test(char) && !CONFUSABLES.has(char)) return "";
  if (/[\p{Zs}\u2800]/u.test(char)) return "\u00a0";
  const known = CONFUSABLES.get(char);
  return Array.from(known === undefined ? char.normalize("NFKD") : cased(known, char), looks)
    .join("")
    .slice(0, MAX_UNITS);
}

function looks(char: string): string {
  if (char <= "~") return char;
  if (INVISIBLE.test(char)) return "";
  const alike = CONFUSABLES.get(char) ?? CONFUSABLES.get(char.toUpperCase()) ?? CONFUSABLES.get(char.toLowerCase());
  if (alike !== undefined) return cased(alike, char);
  if (char.length > 1 && !/[\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{N}]/u.test(char)) return "\ufffd";
  if (/\p{Pd}/u.test(char)) return "-";
  if (/\p{Pc}/u.test(char)) return "_";
  return char.toLowerCase();
}

const cased = (alike: string, char: string): string => (/\p{Lu}/u.test(char) ? alike.toUpperCase() : alike);
