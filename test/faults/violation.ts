/**
 * What was promised and is not so. `lost`: acknowledged and not there. `doubled`: there more often than asked for.
 * `order`: not in the order of acceptance. `back`: somebody saw it go back. `ended twice`: traces of two ends of one run.
 * `stuck`: never acknowledged, or never ended, though nothing was in its way any more. `refused`: an answer that no fault
 * excuses. `crashed`: a process ended by itself.
 */
export const VIOLATIONS = ["lost", "doubled", "order", "back", "ended twice", "stuck", "refused", "crashed"] as const;

export interface Violation {
  readonly kind: (typeof VIOLATIONS)[number];
  readonly what: string;
}
