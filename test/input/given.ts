/**
 * What all random tests here go by. `INPUT_SEED=… INPUT_TIMES=20 npm run test:input` tries twenty times as much as CI does,
 * from another seed, and prints what was done.
 */
export const SEED = Number(process.env.INPUT_SEED ?? 7);
export const TIMES = Number(process.env.INPUT_TIMES ?? 1);

/** Prints a line where somebody asked for a longer run. */
export function tell(line: string): void {
  if (process.env.INPUT_TIMES) console.log(`      ${line}`);
}
