import { TIMES } from "../support/random.ts";

/** Prints a line where somebody asked for a longer run. */
export function tell(line: string): void {
  if (TIMES > 1) console.log(`      ${line}`);
}
