import { type Boundary, isSpace, lastBoundary } from "./boundaries.ts";

/** How much of a message the stretch up to `to` takes; it fits where that is 1 or less. */
export type FillAt = (to: number) => number;

/**
 * Where a stretch of a text that begins at `from` and fits may end: at the last border of the first of these kinds that
 * there is. The white space behind it counts for nothing.
 * @param most so many UTF-16 units may fit at most
 * @returns undefined where nothing fits that ends at such a border
 */
export function findSplitPoint(
  text: string,
  from: number,
  maxUnits: number,
  boundaries: readonly Boundary[],
  fill: FillAt,
): number | undefined {
  let to = furthestFit(from, Math.min(text.length, from + maxUnits), fill);
  if (to === from) return undefined;
  while (to < text.length && isSpace(text, to)) to += 1;
  for (const kind of boundaries) {
    const boundary = lastBoundary(text, from, to, kind);
    if (boundary !== undefined && (boundary === to || fill(boundary) <= 1)) return boundary;
  }
  return undefined;
}

/** After so many tries a message need not be fuller than this. */
const MAX_TRIES = 4;
const FULL_ENOUGH = 0.98;

/** The furthest place that fits, or nearly. Each try writes the whole stretch, so the next one is guessed from the last. */
function furthestFit(from: number, maxUnits: number, fill: FillAt): number {
  let low = from;
  let lowFill = 0;
  let high = maxUnits;
  let highFill = fill(maxUnits);
  if (highFill <= 1) return maxUnits;
  for (let tries = 0; high - low > 1 && (tries < MAX_TRIES || lowFill < FULL_ENOUGH); tries += 1) {
    const guess = low + Math.floor((high - low) * ((1 - lowFill) / (highFill - lowFill)));
    const next = tries % 4 === 3 ? (low + high) >> 1 : Math.min(Math.max(guess, low + 1), high - 1);
    const nextFill = fill(next);
    if (nextFill <= 1) [low, lowFill] = [next, nextFill];
    else [high, highFill] = [next, nextFill];
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
