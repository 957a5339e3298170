import { TIMES } from "../support/random.ts";

/** Prints a line if a longer run was requested. */
export function tell(line: string): void {
  if (TIMES > 1) console.log(`      ${line}`);
}
