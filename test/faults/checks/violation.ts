/**
 * A broken guarantee. `lost`: acknowledged but missing. `doubled`: present more often than requested. `order`: not in
 * the order of acceptance. `back`: a reader saw it go back. `ended twice`: traces of two ends of one run. `stuck`:
 * never acknowledged or never ended after all faults were healed. `refused`: a response that no fault explains.
 * `crashed`: a process exited by itself. `late`: a notification came, but not in time.
 */
export const VIOLATIONS = [
  "lost",
  "doubled",
  "order",
  "back",
  "ended twice",
  "stuck",
  "refused",
  "crashed",
  "late",
] as const;

export interface Violation {
  readonly kind: (typeof VIOLATIONS)[number];
  readonly what: string;
}
