import type { RunStats } from "../../wire/runs/run.ts";
import { countBy, MAX_COUNTED } from "../db/countBy.ts";
import { type RunDoc, RunStatus } from "./run.ts";
import { type RunFilter, runQuery } from "./runFilter.ts";
import type { Runs } from "./runs.ts";

const STATUSES = RunStatus.enum;

/** Counts the runs that match a filter, by status. Counts at most 10,000: of each status without conditions. */
export async function countRuns(runs: Pick<Runs, "collection">, filter: Omit<RunFilter, "status">): Promise<RunStats> {
  const hasConditions = Object.values(filter).some((condition) => condition !== undefined);
  const counts = hasConditions
    ? [...(await countBy<RunDoc, RunStatus>(runs.collection, runQuery(filter), "status"))]
    : await countAll(runs);
  const total = counts.reduce((sum, [, count]) => sum + count, 0);
  const capped = hasConditions ? total > MAX_COUNTED : counts.some(([, count]) => count > MAX_COUNTED);
  const capOf = (count: number) => Math.min(count, MAX_COUNTED);
  const byStatus = Object.fromEntries(counts.map(([status, count]) => [status, capOf(count)]));
  return {
    runs: {
      total: hasConditions ? capOf(total) : counts.reduce((sum, [, count]) => sum + capOf(count), 0),
      ...(Object.fromEntries(STATUSES.map((status) => [status, byStatus[status] ?? 0])) as Record<RunStatus, number>),
    },
    capped,
  };
}

type Counts = [status: string, count: number][];

/** Counts the runs in each status by its index alone. */
function countAll({ collection }: Pick<Runs, "collection">): Promise<Counts> {
  const count = async (status: RunStatus): Promise<Counts[number]> => {
    const options = { limit: MAX_COUNTED + 1 };
    return [status, await collection.countDocuments({ status }, options)];
  };
  return Promise.all(STATUSES.map(count));
}
