import type { Documents } from "../../db/documents.ts";
import type { AttemptReport, RunDoc } from "../run.ts";
import { addUsage } from "./usage.ts";

/** The spending of attempts: their usage and their time. */
export type Tried = Pick<AttemptReport, "usage" | "ms">;

/** Returns what attempts have spent, in the figures of budgets. A figure that was not reported counts as none. */
export const spentOf = ({ usage, ms = 0 }: Tried) => ({
  usd: usage?.costUsd ?? 0,
  tokens: (usage?.inputTokens ?? 0) + (usage?.outputTokens ?? 0),
  minutes: ms / 60_000,
});

/** Returns the operators that add an attempt to the sums of its run, and to those that budgets have not counted yet. */
export function addTried({ usage, ms }: Tried, id: string, at: Date) {
  const { $inc = {} } = addUsage(usage);
  const uncounted: NonNullable<RunDoc["uncounted"]>[number] = { id, at, ms: ms ?? 0, ...(usage && { usage }) };
  return {
    $inc: { ...$inc, ...(ms !== undefined && { turnMs: ms }) },
    $push: ms === undefined ? {} : { uncounted },
  };
}

/** Removes the attempts of a run that budgets have counted. */
export async function markCounted(
  collection: Documents<RunDoc>,
  { _id, uncounted = [] }: Pick<RunDoc, "_id" | "uncounted">,
): Promise<void> {
  const ids = uncounted.map(({ id }) => id);
  await collection.updateOne({ _id }, { $pull: { uncounted: { id: { $in: ids } } } });
}
