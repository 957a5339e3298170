import { type Boundary, isSpace, lastBoundary } from "./boundaries.ts";

/** Returns the used share of a message's limits for a text up to `to`; it fits if that is at most 1. */
export type FillAt = (to: number) => number;

/**
 * Returns where a text that begins at `from` should be split so that it fits: at the last boundary of the first kind that
 * yields one. White space after the boundary is ignored. Returns undefined if no such boundary fits.
 * @param maxUnits maximum number of UTF-16 units that can fit
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

/** After this many tries, a message that is 98 % full is accepted. */
const MAX_TRIES = 4;
const FULL_ENOUGH = 0.98;

/**
 * Returns the furthest place that fits, or one near it. Each try renders the whole range, so that the next one is interpolated
 * from the last to save tries.
 */
function furthestFit(from: number, end: number, fill: FillAt): number {
  let low = from;
  let lowFill = 0;
  let high = end;
  let highFill = fill(end);
  if (highFill <= 1) return end;
  for (let tries = 0; high - low > 1 && (tries < MAX_TRIES || lowFill < FULL_ENOUGH); tries += 1) {
    const guess = low + Math.floor((high - low) * ((1 - lowFill) / (highFill - lowFill)));
    const next = tries % 4 === 3 ? (low + high) >> 1 : Math.min(Math.max(guess, low + 1), high - 1);
    const nextFill = fill(next);
    if (nextFill <= 1) [low, lowFill] = [next, nextFill];
    else [high, highFill] = [next, nextFill];
  }
  return low;
}

/** Returns where a text continues after white space, optionally before the indentation of its line. */
export function skipSpace(text: string, from: number, keepsIndent: boolean): number {
  let start = from === 0 || text[from - 1] === "\n" ? from : undefined;
  let at = from;
  while (at < text.length && isSpace(text, at)) {
    at += 1;
    if (text[at - 1] === "\n") start = at;
  }
  return keepsIndent && at < text.length ? (start ?? at) : at;
}
