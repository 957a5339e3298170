import type { HookHour, HookRequestRow } from "../../wire/hookRequest.ts";
import { HOOK_FIGURES_INDEX } from "./hookRequest.ts";
import type { IntakeStores } from "./intakeStores.ts";
import { readRows } from "./readHookRequests.ts";

const HOUR_MS = 3_600_000;
const HOURS = 24;
/** Maximum requests that are counted, the newest ones. */
const MAX_REQUESTS = 50_000;
const MAX_TIME_MS = 2_000;

/** The figures of one hook from the kept requests of the last 24 hours. */
export interface HookFigures {
  readonly last: HookRequestRow | null;
  /** One entry an hour, the oldest first. */
  readonly hours: readonly HookHour[];
}

const NONE: HookHour = { accepted: 0, dropped: 0, failed: 0, filtered: 0, refused: 0 };

export const noHours = (): HookHour[] => Array.from({ length: HOURS }, () => ({ ...NONE }));

/** Counts the kept requests of the last 24 hours by the hook in their URL, from an index alone. */
export async function readHookFigures(
  stores: Pick<IntakeStores, "hookRequests" | "runs">,
  now: Date,
): Promise<ReadonlyMap<string, HookFigures>> {
  const from = new Date(now.getTime() - HOURS * HOUR_MS);
  const hour = { $floor: { $divide: [{ $subtract: ["$createdAt", from] }, HOUR_MS] } };
  const counted = await stores.hookRequests.collection.aggregate<{
    _id: { hook: string; hour: number; outcome: keyof HookHour };
    count: number;
    last: string;
  }>(
    [
      { $match: { createdAt: { $gte: from, $lte: now } } },
      { $sort: HOOK_FIGURES_INDEX },
      { $limit: MAX_REQUESTS },
      { $group: { _id: { hook: "$hook", hour, outcome: "$outcome" }, count: { $sum: 1 }, last: { $first: "$_id" } } },
      { $sort: { "_id.hour": -1 } },
    ],
    { hint: HOOK_FIGURES_INDEX, maxTimeMS: MAX_TIME_MS },
  );
  const groups = Map.groupBy(counted, ({ _id }) => _id.hook);
  // One of the newest hour's outcomes has the newest request.
  const newest = [...groups.values()].flatMap((group) =>
    group.filter(({ _id }) => _id.hour === group[0]?._id.hour).map(({ last }) => last),
  );
  const rows = Map.groupBy(await readRows(stores, newest), ({ hook }) => hook);
  return new Map(
    [...groups].map(([hook, group]) => {
      const hours = noHours();
      for (const { _id, count } of group) {
        const one = hours[Math.min(HOURS - 1, _id.hour)];
        if (one) one[_id.outcome] += count;
      }
      const last = rows.get(hook)?.reduce((a, b) => (a.createdAt > b.createdAt ? a : b)) ?? null;
      return [hook, { last, hours }];
    }),
  );
}
