import type { mongo } from "mongoose";
import type { Status } from "../job.ts";
import { isNewer } from "../order.ts";

const STATUSES = ["running", "completed", "failed"] as const satisfies Status[];

const ENDED_STEPS = { $add: ["$stepCounts.completed", "$stepCounts.failed"] };
const ALL_STEPS = { $add: ["$stepCounts.running", ENDED_STEPS] };

/** The expression for the share of steps that have ended in percent, of which the end of the job is the last one. */
export const STEPS_ENDED = {
  $min: [99, { $floor: { $multiply: [100, { $divide: [ENDED_STEPS, ALL_STEPS] }] } }],
};

/**
 * Returns the expression for the number of steps by status after a report, from the step before it. A report of `running` on a
 * step that was completed becomes `{ running: 4, completed: 2, failed: 0 }` from `{ running: 3, completed: 3, failed: 0 }`.
 */
export function changedCounts(
  { status, order }: { readonly status?: Status | undefined; readonly order?: number | undefined },
  step: string,
): mongo.Document {
  const before = `${step}.status`;
  const counted = (change: 1 | -1, one: Status) => ({ [one]: { $add: [`$stepCounts.${one}`, change] } });
  // A report without a status changes the counts only if it creates the step, and a new step is running.
  if (status === undefined) {
    return { $cond: [before, "$stepCounts", { $mergeObjects: ["$stepCounts", counted(1, "running")] }] };
  }
  const left = (one: Status) => ({ $cond: [{ $eq: [before, one] }, counted(-1, one), {}] });
  const others = STATUSES.filter((one) => one !== status).map(left);
  const movedTo = { $mergeObjects: ["$stepCounts", counted(1, status), ...others] };
  const moved = { $cond: [{ $eq: [before, status] }, "$stepCounts", movedTo] };
  if (order === undefined) return moved;
  // An event that comes late leaves a step as it is, and creates one.
  return { $cond: [isNewer(step, order), moved, "$stepCounts"] };
}
