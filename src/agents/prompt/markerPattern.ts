/** The sign that breaks up a look-alike. It is visible, and resembles no letter, bracket or bar in any Unicode form. */
export const BREAK = "※";

/** The words of the boundary markers. Only the id makes a marker valid; any other text with these words is a look-alike. */
export const MARKER_WORDS = { begin: "BEGIN_UNTRUSTED_CONTENT", end: "END_UNTRUSTED_CONTENT" } as const;

/*
 * The patterns run over the skeleton of a text (skeleton.ts). They take linear time: each begins at a fixed character or at
 * the start of a line, a gap never contains the character after it, and two gaps never touch, so there is only one way to
 * match. Greedy gaps are bounded to limit the engine's stack. A skeleton has no invisible characters.
 */

/** For each letter the digits, signs and letters that can be mistaken for it. */
const LETTER_CLASSES: Readonly<Record<string, string>> = {
  a: "[a4]",
  b: "[b8]",
  e: "[e3]",
  g: "[g9]",
  i: "[il1|!]",
  l: "[il1|!]",
  o: "[o0]",
  s: "[s5]",
  t: "[t7]",
};

/** Returns a pattern for a word with `gap` between its letters. */
export const wordPattern = (letters: string, gap: string): string =>
  [...letters].map((letter) => LETTER_CLASSES[letter] ?? letter).join(gap);

/** Returns a pattern for any of the names, which are separated by white space, with `gap` between their letters. */
export const anyWordPattern = (names: string, gap: string): string =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => wordPattern(name, gap))
    .join("|");

/**
 * Characters of two UTF-16 units, and single surrogates. Gaps exclude them, because the engine would keep a state for each
 * character to try the other length. In a skeleton only letters and digits have two units.
 */
export const SUPPLEMENTARY = "\\ud800-\\udfff\\u{10000}-\\u{10ffff}";

/**
 * A gap between the letters of a marker: any number of characters that are neither letters nor digits. Modifier letters
 * count as signs. The gap is lazy, so that the engine keeps no state for each character of a long gap.
 */
const ANY = `[^\\p{Lu}\\p{Ll}\\p{Lt}\\p{Lo}\\p{N}${BREAK}${SUPPLEMENTARY}]*?`;

/**
 * Matches the words that both markers share. They are broken up everywhere, in prose too: a sender could imitate any
 * surrounding text that would exempt them.
 */
export const MARKER: RegExp = new RegExp(
  `(?<!${BREAK})${wordPattern("untrusted", ANY)}${ANY}${wordPattern("content", ANY)}`,
  "gu",
);

const SYMBOLS = /\(\)|\[\]|\|\)|[$§+†(@]/g;
const LETTERS: Readonly<Record<string, string>> = {
  "()": "o\0",
  "[]": "o\0",
  "|)": "d\0",
  $: "s",
  "§": "s",
  "+": "t",
  "†": "t",
  "(": "c",
  "@": "a",
};

/** Replaces symbols by the letters for which they are used, as in `UNTRU$TED C()NTEN+`. The length stays the same. */
export const replaceSymbols = (skeleton: string): string =>
  skeleton.replace(SYMBOLS, (symbol) => LETTERS[symbol] as string);
