import type { Usage } from "../../../wire/runs/usage.ts";
import type { Documents } from "../../db/documents.ts";
import type { RunDoc } from "../run.ts";
import { USAGE_MEMBERS, viewUsage } from "./usage.ts";

/**
 * Returns the sum of the usage of the runs that ended since a time, which an index finds; null if no run has usage.
 * @throws AppError unavailable
 */
export async function sumUsage(runs: Documents<RunDoc>, since: Date): Promise<Usage | null> {
  // A sum is 0 both if all runs report 0 and if none reports the member, whose greatest value is null only then.
  const reported = (member: string) => ({ $max: `$usage.${member}` });
  const sums = Object.fromEntries(USAGE_MEMBERS.map((member) => [member, { $sum: `$usage.${member}` }]));
  const seen = Object.fromEntries(USAGE_MEMBERS.map((member) => [`${member}Seen`, reported(member)]));
  const [total] = await runs.aggregate<Record<string, number | null>>([
    { $match: endedSince(since) },
    { $project: { usage: 1 } },
    { $group: { _id: null, ...sums, ...seen } },
  ]);
  const known = USAGE_MEMBERS.filter((member) => (total?.[`${member}Seen`] ?? null) !== null);
  return known.length > 0 ? viewUsage(Object.fromEntries(known.map((member) => [member, total?.[member]]))) : null;
}

/** Returns the query for the finalized runs that ended since a time. */
export const endedSince = (since: Date) => ({ finalized: true, endedAt: { $gte: since } });
