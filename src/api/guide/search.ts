import leven from "leven";
import { type Html, html } from "../../shared/text/html.ts";

/** A part of a page that a search can find. */
export interface Entry {
  readonly path: string;
  readonly title: string;
  readonly heading: string;
  /** The questions of the guide's index that it answers. */
  readonly questions: readonly string[];
  readonly texts: readonly string[];
  /** The lines of its code blocks. */
  readonly code: readonly string[];
  /** The factor of its score. */
  readonly boost: number;
}

export interface Hit extends Entry {
  /** The sentence that fits best, with the words marked. */
  readonly excerpt: Html;
}

/** Maximum length of a query, which anyone may send, and maximum words of it that are searched. */
export const MAX_QUERY = 100;
const MAX_WORDS = 8;
/** Maximum terms of the index that a word stands for. */
const MAX_TERMS = 50;
const MAX_HITS = 10;
const MAX_HITS_OF_A_PAGE = 2;
/** Maximum characters of an excerpt. */
const MAX_EXCERPT = 200;
/** Words that more of the entries contain are not marked. */
const COMMON = 1 / 4;

/** The points that a term adds to the score of an entry that has it in a field; for texts and code, their limit. */
const WEIGHTS = { heading: 2.5, title: 1.5, questions: 1.5, body: 1 } as const;
/** How much a word in code counts, compared with one in a sentence. */
const CODE = 1 / 2;
/** Terms in a text of usual length. In a longer one, a term must occur more often for the same weight. */
const USUAL_LENGTH = 100;

/** The share that a filler counts, which says little about the subject of a question, of another word as rare. */
const FILLER = 1 / 4;
const FILLERS = /^(?:an?|and|are|can|doe?s?|how|i|is|it|my|of|that|the|ther|to|what|when|wher|which|why|with)$/;

const WORD = /[\p{L}\p{N}]+/gu;

/** An inverted index: the entries that contain each term, with the weight of the term there. */
export class SearchIndex {
  readonly #entries: Entry[] = [];
  /** For each term, ids of entries and weights by turns. */
  readonly #postings = new Map<string, number[]>();
  #sorted: string[] | undefined;

  add(entry: Entry): void {
    const weights = new Map<string, number>();
    const add = (term: string, weight: number) => weights.set(term, (weights.get(term) ?? 0) + weight);
    for (const term of new Set(phraseTerms(entry.heading))) add(term, WEIGHTS.heading);
    for (const term of new Set(phraseTerms(entry.title))) add(term, WEIGHTS.title);
    for (const term of new Set(entry.questions.flatMap(phraseTerms))) add(term, WEIGHTS.questions);
    const [texts, code] = [entry.texts, entry.code].map((lines) => lines.flatMap(termsOf)) as [string[], string[]];
    const counts = new Map<string, number>();
    for (const term of texts) counts.set(term, (counts.get(term) ?? 0) + 1);
    for (const term of code) counts.set(term, (counts.get(term) ?? 0) + CODE);
    const saturation = 0.3 + (0.7 * (texts.length + code.length)) / USUAL_LENGTH;
    for (const [term, count] of counts) add(term, (WEIGHTS.body * count) / (count + saturation));
    const id = this.#entries.push(entry) - 1;
    for (const [term, weight] of weights) {
      const postings = this.#postings.get(term);
      if (postings) postings.push(id, weight);
      else this.#postings.set(term, [id, weight]);
    }
    this.#sorted = undefined;
  }

  /** Returns the best entries first. What lacks a word of the query counts less, the rarer the word is. */
  search(query: string): Hit[] {
    const words = [...new Set(termsOf(query.slice(0, MAX_QUERY)))].slice(0, MAX_WORDS);
    const found = new Map<number, { score: number; covered: number }>();
    const marked = new Map<string, number>();
    let total = 0;
    for (const word of words) {
      const terms = this.#expand(word);
      const weights = this.#weigh(terms);
      const rarity = Math.log(1 + this.#entries.length / Math.max(weights.size, 1)) * (FILLERS.test(word) ? FILLER : 1);
      total += rarity;
      for (const [id, weight] of weights) {
        const { score, covered } = found.get(id) ?? { score: 0, covered: 0 };
        found.set(id, { score: score + rarity * weight, covered: covered + rarity });
      }
      if (weights.size < this.#entries.length * COMMON) for (const [term] of terms) marked.set(term, rarity);
    }
    const ofPages = new Map<string, number>();
    return [...found]
      .map(([id, { score, covered }]) => ({ entry: this.#entries[id] as Entry, score: score * (covered / total) ** 2 }))
      .sort((a, b) => b.score * b.entry.boost - a.score * a.entry.boost)
      .filter(({ entry: { title } }) => {
        const count = (ofPages.get(title) ?? 0) + 1;
        ofPages.set(title, count);
        return count <= MAX_HITS_OF_A_PAGE;
      })
      .slice(0, MAX_HITS)
      .map(({ entry }) => ({ ...entry, excerpt: excerpt(entry, marked) }));
  }

  /** Returns the terms that a word stands for, with their likeness to it: those that it begins, else those it misspells. */
  #expand(word: string): [term: string, likeness: number][] {
    this.#sorted ??= [...this.#postings.keys()].sort();
    if (word.length === 1) return [[word, 1]];
    const begun = startingWith(this.#sorted, word).slice(0, MAX_TERMS);
    if (begun.length > 0) return begun.map((term) => [term, term === word ? 1 : (0.8 * word.length) / term.length]);
    if (word.length < 4) return [];
    const allowed = word.length < 8 ? 1 : 2;
    const isAlike = (term: string) => leven(term, word, { maxDistance: allowed + 1 }) <= allowed;
    const alike = startingWith(this.#sorted, word.charAt(0)).filter(isAlike);
    return alike.slice(0, MAX_TERMS).map((term) => [term, 0.5]);
  }

  /** Returns the weight of the best term for each entry that has one of them. */
  #weigh(terms: readonly (readonly [term: string, likeness: number])[]): Map<number, number> {
    const weights = new Map<number, number>();
    for (const [term, likeness] of terms) {
      const postings = this.#postings.get(term) ?? [];
      for (let i = 0; i < postings.length; i += 2) {
        const [id, weight] = [postings[i] as number, postings[i + 1] as number];
        weights.set(id, Math.max(weights.get(id) ?? 0, likeness * weight));
      }
    }
    return weights;
  }
}

/** Returns the terms of a sorted list that begin with a text. */
function startingWith(sorted: readonly string[], beginning: string): string[] {
  let [from, to] = [0, sorted.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if ((sorted[middle] as string) < beginning) from = middle + 1;
    else to = middle;
  }
  while (sorted[to]?.startsWith(beginning)) to += 1;
  return sorted.slice(from, to);
}

const termsOf = (text: string): string[] => (text.toLowerCase().match(WORD) ?? []).map(stem);

/** Returns the terms of a short text, and each pair of words as one: "Back up" is found as "backup" too. */
function phraseTerms(text: string): string[] {
  const words = text.toLowerCase().match(WORD) ?? [];
  return [...words, ...words.slice(1).map((word, i) => `${words[i]}${word}`)].map(stem);
}

/** Returns what the forms of a word have in common, such as "retry", "retries" and "retried". */
const stem = (word: string): string =>
  word
    .replace(/(?<=..)ie[sd]$/, "y")
    .replace(/(?<=s|x|ch|sh)es$|(?<=.[^su])s$/, "")
    .replace(/(?<=[aeiouy].*.)(?:ing|ed)$/, "")
    .replace(/(?<=..)([bdglmnprt])\1$|(?<=...)e$/, "$1");

/** Returns the sentence with the rarest of the searched words, with all of them marked. @param marked the rarity of each term */
function excerpt({ texts, code }: Entry, marked: ReadonlyMap<string, number>): Html {
  const value = (text: string) => [...new Set(termsOf(text))].reduce((sum, term) => sum + (marked.get(term) ?? 0), 0);
  const sentences = texts.flatMap((text) => text.match(/\S.*?(?:[.?!](?=\s)|$)/g) ?? []);
  const candidates = [
    ...sentences.map((text) => ({ text, value: value(text) })),
    ...code.map((text) => ({ text: text.trim(), value: value(text) * CODE })),
  ];
  const best = candidates.sort((a, b) => b.value - a.value)[0]?.text ?? "";
  const isMarked = (word: string) => marked.has(stem(word.toLowerCase()));
  const first = [...best.matchAll(WORD)].find(([word]) => isMarked(word))?.index ?? 0;
  const isCut = best.length > MAX_EXCERPT && first > MAX_EXCERPT / 2;
  const from = isCut ? best.lastIndexOf(" ", first - MAX_EXCERPT / 3) + 1 : 0;
  const shown = best.slice(from, from + MAX_EXCERPT);
  const parts = shown.split(/([\p{L}\p{N}]+)/u);
  return html`${isCut && "…"}${parts.map((part) => (isMarked(part) ? html`<mark>${part}</mark>` : html`${part}`))}${
    from + shown.length < best.length && "…"
  }`;
}
