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

/** Maximum words of one name, each an entry in an index. */
const MAX_WORDS = 32;
/** Maximum characters of a stored word. The rest of a longer word is not compared. */
const MAX_WORD_LENGTH = 64;

/**
 * Returns the distinct words of a text in the form of `nameKey`: its runs of letters, digits and their marks. Returns the first 32
 * words, each cut to 64 characters.
 */
export function nameWords(text: string): string[] {
  const words = nameKey(text).match(/[\p{L}\p{N}\p{M}]+/gu) ?? [];
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
