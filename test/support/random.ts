/**
 * Seed and size of all random tests. The same seed produces the same cases. The gate uses these defaults; the nightly
 * command sets others and prints them.
 *
 * A property that fails prints its seed, the path to the smallest failing case, and that case. To repeat all cases, run
 * `TEST_SEED=<seed> TEST_TIMES=<times> mocha <file>`. To repeat only the smallest one, also add its path beside the
 * number of cases in the test: `{ ...runs(100), path: "52:1:0" }`.
 */
export const SEED = Number(process.env.TEST_SEED ?? 1);

/** The factor for the number of cases: the gate tries a fifth of them, the nightly command ten times as many. */
export const TIMES = Number(process.env.TEST_TIMES ?? 0.2);

/** Returns a number of cases, times `TIMES`. */
export const cases = (count: number): number => Math.ceil(count * TIMES);

/** The default number of cases of a property. */
export const RUNS = cases(100);

/** Returns the options for `count` cases of a property, times `TIMES`. */
export const runs = (count: number): { readonly numRuns: number } => ({ numRuns: cases(count) });
