import { CONFUSABLES } from "./confusables.ts";

/** The appearance of a text, in which look-alikes are searched; a variant of the skeleton of Unicode Technical Standard 39. */
export interface Skeleton {
  readonly text: string;
  /** Returns the index in the original of the character at `index` of the skeleton; the original's length for its end. */
  at(index: number): number;
}

/** Characters that are not visible: zero-width and control characters, marks, variation selectors, tags, single surrogates. */
const INVISIBLE = /^[\p{Default_Ignorable_Code_Point}\p{Cf}\p{Cc}\p{Cs}\p{M}]$/u;

/** Maximum UTF-16 units kept of one character's decomposition. Longer ones are Arabic and CJK, which no pattern needs. */
const MAX_UNITS = 8;

/**
 * Returns the skeleton of a text: without invisible characters, and with each confusable character replaced by the one it
 * looks like, unusual spaces by U+00A0, other line breaks by `\n`, and signs of two units (emoji) by
 * U+FFFD. ASCII letters keep their case, and capitals that look like one become a capital. Other letters become lower case,
 * so that `toLowerCase` keeps the length. Takes time linear in the length of the text.
 * @param tags what happens to the invisible tag characters at U+E0000, which mirror ASCII: they are dropped like other
 *   invisible characters (they may stand between letters), or read as the letters they mirror (they may spell a token)
 */
export function toSkeleton(text: string, tags: "dropped" | "read" = "dropped"): Skeleton {
  if (!/[^\t\n\r -~]/.test(text)) return { text, at: (index) => index };
  const cache = new Map<number, string>();
  let units = new Uint16Array(text.length + MAX_UNITS);
  let positions = new Uint32Array(units.length);
  let length = 0;
  for (let i = 0; i < text.length; ) {
    const code = text.codePointAt(i) as number;
    let skeleton = cache.get(code);
    if (skeleton === undefined) {
      skeleton = skeletonOf(code, tags);
      cache.set(code, skeleton);
    }
    if (length + MAX_UNITS > units.length) {
      units = copyInto(units, new Uint16Array(units.length * 2));
      positions = copyInto(positions, new Uint32Array(units.length));
    }
    for (let unit = 0; unit < skeleton.length; unit++) {
      units[length] = skeleton.charCodeAt(unit);
      positions[length++] = i;
    }
    i += code > 0xffff ? 2 : 1;
  }
  return {
    text: Buffer.from(units.buffer, 0, length * 2).toString("utf16le"),
    at: (index) => (index < length ? (positions[index] as number) : text.length),
  };
}

function copyInto<T extends Uint16Array | Uint32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}

function skeletonOf(code: number, tags: "dropped" | "read"): string {
  const char = String.fromCodePoint(code);
  if (code === 0x09) return char;
  // U+001C to U+001E end a line for Python's splitlines.
  if ((code >= 0x1c && code <= 0x1e) || /[\n\v\f\r\u0085\u2028\u2029]/.test(char)) return "\n";
  if (code < 0x7f && code >= 0x20) return char;
  if (code >= 0xe0020 && code < 0xe007f && tags === "read") return String.fromCharCode(code - 0xe0000);
  // Some marks look like letters, so marks in the table are not dropped.
  if (INVISIBLE.test(char) && !CONFUSABLES.has(char)) return "";
  if (/[\p{Zs}\u2800]/u.test(char)) return "\u00a0";
  const confusable = CONFUSABLES.get(char);
  return Array.from(confusable === undefined ? char.normalize("NFKD") : cased(confusable, char), appearanceOf)
    .join("")
    .slice(0, MAX_UNITS);
}

function appearanceOf(char: string): string {
  if (char <= "~") return char;
  if (INVISIBLE.test(char)) return "";
  const skeleton = CONFUSABLES.get(char) ?? CONFUSABLES.get(char.toUpperCase()) ?? CONFUSABLES.get(char.toLowerCase());
  if (skeleton !== undefined) return cased(skeleton, char);
  if (char.length > 1 && !/[\p{Lu}\p{Ll}\p{Lt}\p{Lo}\p{N}]/u.test(char)) return "\ufffd";
  if (/\p{Pd}/u.test(char)) return "-";
  if (/\p{Pc}/u.test(char)) return "_";
  return char.toLowerCase();
}

const cased = (skeleton: string, char: string): string => (/\p{Lu}/u.test(char) ? skeleton.toUpperCase() : skeleton);
