import { type Border, isSpace, lastBorder } from "./borders.ts";

/** How much of a message the stretch up to `to` takes; it fits where that is 1 or less. */
export type Share = (to: number) => number;

/**
 * Where a stretch of a text that begins at `from` and fits may end: at the last border of the first of these kinds that
 * there is. The white space behind it counts for nothing.
 * @param most so many UTF-16 units may fit at most
 * @returns undefined where nothing fits that ends at such a border
 */
export function cut(
  text: string,
  from: number,
  most: number,
  borders: readonly Border[],
  share: Share,
): number | undefined {
  let to = furthest(from, Math.min(text.length, from + most), share);
  if (to === from) return undefined;
  while (to < text.length && isSpace(text, to)) to += 1;
  for (const kind of borders) {
    const border = lastBorder(text, from, to, kind);
    if (border !== undefined && (border === to || share(border) <= 1)) return border;
  }
  return undefined;
}

/** After so many tries a message need not be fuller than this. */
const TRIES = 4;
const FULL = 0.98;

/** The furthest place that fits, or nearly. Each try writes the whole stretch, so the next one is guessed from the last. */
function furthest(from: number, most: number, share: Share): number {
  let low = from;
  let lowShare = 0;
  let high = most;
  let highShare = share(most);
  if (highShare <= 1) return most;
  for (let tries = 0; high - low > 1 && (tries < TRIES || lowShare < FULL); tries += 1) {
    const guess = low + Math.floor((high - low) * ((1 - lowShare) / (highShare - lowShare)));
    const next = tries % 4 === 3 ? (low + high) >> 1 : Math.min(Math.max(guess, low + 1), high - 1);
    const nextShare = share(next);
    if (nextShare <= 1) [low, lowShare] = [next, nextShare];
    else [high, highShare] = [next, nextShare];
  }
  return low;
}

/** Where a text goes on behind white space; the indentation of a line may be kept. */
export function skipSpace(text: string, from: number, keepsIndent: boolean): number {
  let start = from === 0 || text[from - 1] === "\n" ? from : undefined;
  let at = from;
  while (at < text.length && isSpace(text, at)) {
    at += 1;
    if (text[at - 1] === "\n") start = at;
  }
  return keepsIndent && at < text.length ? (start ?? at) : at;
}
