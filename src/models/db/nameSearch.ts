/** The search for records by their names. */

const isAscii = (text: string): boolean => !/[^\0-\x7f]/.test(text);

/**
 * Returns the form of a name that is the same in upper and lower case. A beginning of a name, of whole characters with their
 * marks, has the beginning of its form. `toLowerCase` does not guarantee this: it makes a sigma at the end of a word another letter.
 */
export function nameKey(name: string): string {
  if (isAscii(name)) return name.toLowerCase();
  const letters = Array.from(name.normalize("NFD"), (letter) => letter.toLowerCase().toUpperCase().toLowerCase());
  return letters.join("").normalize("NFC");
}

/**
 * Returns the form of a name that is stored: its `nameKey`, and the name behind it if it differs. It begins as the `nameKey` does,
 * and names that differ only in case have different ones.
 */
export function storedNameKey(name: string): string {
  const key = nameKey(name);
  return key === name ? key : `${key}\0${name}`;
}

/** Words: runs of letters, digits and their marks. */
const WORDS = /[\p{L}\p{N}\p{M}]+/gu;
/** Maximum words of one name, each an entry in an index. */
const MAX_WORDS = 32;
/** Maximum characters of a stored word. The rest of a longer word is not compared. */
const MAX_WORD_LENGTH = 64;

/**
 * Returns the distinct words of a text in the form of `nameKey`: its runs of letters, digits and their marks. Returns the first 32
 * words, each cut to 64 characters.
 */
export function nameWords(text: string): string[] {
  const words = nameKey(text).match(WORDS) ?? [];
  const cut = words.map((word) =>
    word.length > MAX_WORD_LENGTH ? Array.from(word).slice(0, MAX_WORD_LENGTH).join("") : word,
  );
  return [...new Set(cut)].slice(0, MAX_WORDS);
}

/**
 * Returns the query for the records in whose `nameWords` each word of a text begins a word; empty if the text has no words. A
 * bound of each word applies to one word of the name, hence the `$elemMatch`.
 */
export function wordQueries(text: string): { $and: { nameWords: { $elemMatch: ReturnType<typeof beginsWith> } }[] }[] {
  const words = nameWords(text).map((word) => ({ nameWords: { $elemMatch: beginsWith(word) } }));
  return words.length > 0 ? [{ $and: words }] : [];
}

/** Maximum forms of a word in a query. */
const MAX_FORMS = 16;

/**
 * Returns for each word of a text the forms that it may have in a text of which MongoDB has put the letters in lower case, which it
 * does with those of ASCII only: `Äpfel` may be there as `äpfel` or `Äpfel`. A word with many other letters has only its usual
 * forms: as it is, in lower case, in upper case, and with a capital.
 */
export function lowerAsciiForms(text: string): string[][] {
  const words = text.normalize("NFC").match(WORDS) ?? [];
  return words.slice(0, MAX_WORDS).map((word) => {
    const cut = Array.from(word).slice(0, MAX_WORD_LENGTH);
    const forms = [cut.join(""), cut.join("").normalize("NFD"), nameKey(word), ...inEachCase(cut)];
    return [...new Set(forms.map(lowerAscii))];
  });
}

/** Puts the letters of ASCII in lower case, as MongoDB does. */
export const lowerAscii = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());

function inEachCase(letters: readonly string[]): string[] {
  const cases = letters.map((letter) =>
    [...new Set([letter.toLowerCase(), letter.toUpperCase()])].filter(
      (one) => Array.from(one).length === 1 && !isAscii(one),
    ),
  );
  const pick = (choose: (own: readonly string[], at: number) => string | undefined) =>
    letters.map((letter, i) => choose(cases[i] as string[], i) ?? letter).join("");
  const open = [...cases.keys()].filter((i) => (cases[i] as string[]).length > 1);
  if (2 ** open.length > MAX_FORMS) {
    return [
      pick(([lower]) => lower),
      pick((own) => own.at(-1)),
      pick((own, i) => (i === open[0] ? own.at(-1) : own[0])),
    ];
  }
  return Array.from({ length: 2 ** open.length }, (_, bits) =>
    pick((own, i) => own[(bits >> open.indexOf(i)) & 1] ?? own[0]),
  );
}

/** Returns the range of all strings with a prefix: from the prefix up to the lowest string that is greater than all of them. */
export function beginsWith(prefix: string): { $gte: string; $lt?: string } {
  const points = Array.from(prefix, (character) => character.codePointAt(0) as number);
  for (let last = points.pop(); last !== undefined; last = points.pop()) {
    if (last === 0x10ffff) continue;
    const next = last === 0xd7ff ? 0xe000 : last + 1; // Surrogates are not characters.
    return { $gte: prefix, $lt: String.fromCodePoint(...points, next) };
  }
  return { $gte: prefix };
}
