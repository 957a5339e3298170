/** Maximum number of words of a sentence. STYLE asks for 25; longer ones are sometimes lists. */
const MAX_WORDS = 35;

/** Words that begin a sentence only if it is a question. */
const NO_BEGINNING = /^(Of|So|What|Who|Whom|Whose|Where|That|Which)\b/;

/** Words that data and programs do not do, and words that a reader has to read twice, with what to write instead. */
const WORDS: readonly (readonly [pattern: RegExp, advice: string])[] = [
  [/\b(told|tells?|telling|heard|hears?|said)\b/i, "data is sent, returned, stored, logged or shown"],
  [/\b(anew|likewise|in vain|hitherto|thereof|wherein|whereof)\b/i, "use a plain word, such as again or also"],
  [/\bmend(s|ed|ing)?\b/i, "write fix"],
  [/\bwhat (became|becomes|came|comes) of\b/i, "name it: the result, the state"],
  [/\b(sees?|seen|saw) to\b/i, "write make sure, or handle"],
  [/\b(is|are|was|were|be) away\b/i, "write unavailable, or cannot be reached"],
  [/\bof now\b/i, "write current, or present"],
  [/\bmay not be \w+(ed|en|ne)\b/i, "write cannot or must not"],
  [/\bso (long|many times|often) (after|in a row|as)\b/i, "name the time or the number"],
  [/\b(simply|easily|obviously|of course)\b/i, "leave it out: the reader may find it hard"],
  [/\b(utili[sz]e|leverage|seamless(ly)?|powerful|blazing(ly)?)\b/i, "write use, or leave it out"],
];

/** Returns the fault of the first word of a sentence, if it has one. */
export function beginningFault(text: string): string | undefined {
  const [beginning] = NO_BEGINNING.exec(text) ?? [];
  if (!beginning || text.endsWith("?")) return undefined;
  return `it begins with "${beginning}" and is no question: begin with the subject`;
}

/**
 * Returns the faults of a sentence by the house style: its length, its first word, its words.
 * @param text the sentence without Markdown, with a placeholder for each piece of code
 */
export function faultsOf(text: string): string[] {
  const faults: string[] = [];
  const words = text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length;
  if (words > MAX_WORDS) faults.push(`${words} words are more than ${MAX_WORDS}: split the sentence`);
  const beginning = beginningFault(text);
  if (beginning) faults.push(beginning);
  for (const [pattern, advice] of WORDS) {
    const [found] = pattern.exec(text) ?? [];
    if (found) faults.push(`"${found}": ${advice}`);
  }
  return faults;
}
