import type { Usage } from "../../../wire/runs/usage.ts";
import type { Documents } from "../../db/documents.ts";
import type { RunDoc } from "../run.ts";
import { USAGE_MEMBERS, viewUsage } from "./usage.ts";

/** Returns the sum of the usage of the runs that ended since a time, which an index finds; null if no run has usage. */
export async function sumUsage(runs: Documents<RunDoc>, since: Date): Promise<Usage | null> {
  // $sum returns 0 for a member that no run reports. $max returns null for it, which separates the two cases.
  const sums = Object.fromEntries(USAGE_MEMBERS.map((member) => [member, { $sum: `$usage.${member}` }]));
  const greatest = Object.fromEntries(USAGE_MEMBERS.map((member) => [`${member}Max`, { $max: `$usage.${member}` }]));
  const [total] = await runs.aggregate<Record<string, number | null>>([
    { $match: endedSince(since) },
    { $project: { usage: 1 } },
    { $group: { _id: null, ...sums, ...greatest } },
  ]);
  const reported = USAGE_MEMBERS.filter((member) => (total?.[`${member}Max`] ?? null) !== null);
  return reported.length > 0
    ? viewUsage(Object.fromEntries(reported.map((member) => [member, total?.[member]])))
    : null;
}

/** Returns the query for the finalized runs that ended since a time. */
export const endedSince = (since: Date) => ({ finalized: true, endedAt: { $gte: since } });
