import type { JobSummary, StepSummary } from "../../../client/client.ts";
import { barOf } from "./timeline.ts";

/** The steps of a job as its page lists them, each group oldest first. */
export interface OrderedSteps {
  /** Those that need eyes: the failed ones, then the running ones. */
  readonly first: readonly StepSummary[];
  readonly completed: readonly StepSummary[];
}

/** Number of completed steps from which one row stands for them. */
const FOLD_FROM = 20;

export function orderSteps(steps: readonly StepSummary[]): OrderedSteps {
  const sorted = steps.toSorted((a, b) => (a.createdAt < b.createdAt ? -1 : a.createdAt > b.createdAt ? 1 : 0));
  const of = (wanted: StepSummary["status"]) => sorted.filter(({ status }) => status === wanted);
  return { first: [...of("failed"), ...of("running")], completed: of("completed") };
}

/** The row that stands for the completed steps of a job. */
export interface Fold {
  readonly count: number;
  /** The names of the first and the last one, such as `Partition 0 … 776`. */
  readonly name: string;
  /** From the start of the first one to the end of the last one; null while some are not read. */
  readonly tookMs: number | null;
}

/** Returns the row that stands for the completed steps; null for a few. @param isWhole whether all steps are read */
export function foldOf(
  { completed }: OrderedSteps,
  { stepCounts }: Pick<JobSummary, "stepCounts">,
  isWhole: boolean,
): Fold | null {
  const count = isWhole ? completed.length : stepCounts.completed;
  const [first, last] = [completed[0], completed.at(-1)];
  if (!first || !last || count <= FOLD_FROM) return null;
  if (!isWhole) return { count, name: `${first.stepName} …`, tookMs: null };
  const bars = completed.map((step) => barOf(step, 0));
  return {
    count,
    name: `${first.stepName} … ${withoutCommonWords(first.stepName, last.stepName)}`,
    tookMs:
      bars.reduce((most, { to }) => Math.max(most, to), 0) -
      bars.reduce((least, { from }) => Math.min(least, from), Number.POSITIVE_INFINITY),
  };
}

/** Returns the second of two names without the words with which both begin. */
function withoutCommonWords(a: string, b: string): string {
  const [one, other] = [a.split(" "), b.split(" ")];
  const at = other.findIndex((word, at) => word !== one[at]);
  return other.slice(Math.max(0, at)).join(" ");
}
