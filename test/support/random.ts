/**
 * What every random test goes by: the same seed makes the same cases. The gate keeps these values; the nightly command gives
 * others, and prints them.
 *
 * A property that fails prints its seed, the path to the smallest case that fails, and that case. The same cases are tried
 * again by `TEST_SEED=<seed> TEST_TIMES=<times> mocha <file>`; the smallest one alone by the path as well, written beside the
 * number of cases for as long as one looks for the fault: `{ ...runs(100), path: "52:1:0" }`.
 */
export const SEED = Number(process.env.TEST_SEED ?? 1);

/** How many times as many cases as usual are tried. */
export const TIMES = Number(process.env.TEST_TIMES ?? 1);

/** Cases of a property that says nothing else. */
export const RUNS = 100 * TIMES;

/** So many cases of a property, times `TIMES`. */
export const runs = (count: number): { readonly numRuns: number } => ({ numRuns: count * TIMES });
