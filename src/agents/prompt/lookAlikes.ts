/** The sign that breaks a look-alike: plain to see, and like no letter, bracket or bar, in no Unicode form. */
export const BREAK = "※";

/** The words of the boundary markers. Only the id makes a marker valid: a text with the words is a look-alike. */
export const MARKER_WORDS = { begin: "BEGIN_UNTRUSTED_CONTENT", end: "END_UNTRUSTED_CONTENT" } as const;

/*
 * The patterns run over a folded text (fold.ts). They take linear time because each begins at a fixed character or at the
 * start of a line, a gap never holds the character behind it, and two gaps never touch: there is one way to match.
 * Greedy gaps are bounded to spare the engine's stack; what cannot be seen is gone before and does not count.
 */

/** Digits that pass for letters, and letters that pass for each other. */
const ALIKE: Readonly<Record<string, string>> = {
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

export const word = (letters: string, gap: string): string =>
  [...letters].map((letter) => ALIKE[letter] ?? letter).join(gap);

export const anyOf = (names: string, gap: string): string =>
  names
    .trim()
    .split(/\s+/)
    .map((name) => word(name, gap))
    .join("|");

/**
 * Characters of two units, and halves of them. A gap leaves them out: the engine would keep a state for each character to
 * try the other length. A folded text has only letters and digits among them.
 */
export const WIDE = "\\ud800-\\udfff\\u{10000}-\\u{10ffff}";

/**
 * Between the letters of a marker: anything that is no letter and no digit, however long; modifier letters join words as
 * signs do. Lazy, so that the engine keeps no state for each character of a long gap.
 */
const ANY = `[^\\p{Lu}\\p{Ll}\\p{Lt}\\p{Lo}\\p{N}${BREAK}${WIDE}]*?`;

/**
 * The words that both markers share. They are broken wherever they stand, in prose too: an exemption that depends on the
 * text around them is one that a sender can write.
 */
export const MARKER: RegExp = new RegExp(`(?<!${BREAK})${word("untrusted", ANY)}${ANY}${word("content", ANY)}`, "gu");

const SIGNS = /\(\)|\[\]|\|\)|[$§+†(@]/g;
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

/** Reads signs as the letters they are used for, as in `UNTRU$TED C()NTEN+`. The length stays the same. */
export const readSigns = (folded: string): string => folded.replace(SIGNS, (sign) => LETTERS[sign] as string);
