/**
 * What every random test goes by: the same seed makes the same cases. The gate keeps these values; the nightly command gives
 * others, and prints them.
 */
export const SEED = Number(process.env.TEST_SEED ?? 1);

/** How many times as many cases as usual are tried. */
export const TIMES = Number(process.env.TEST_TIMES ?? 1);

/** Cases of a property that says nothing else. */
export const RUNS = 100 * TIMES;

/** So many cases of a property, times `TIMES`. */
export const runs = (count: number): { readonly numRuns: number } => ({ numRuns: count * TIMES });
