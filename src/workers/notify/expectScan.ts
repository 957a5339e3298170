import { findNewest } from "../../models/jobs/search/newestJob.ts";
import { latestDue, scheduleOf } from "../../models/notifications/expectation.ts";
import { recordScan, type ScanDeps } from "./recordScan.ts";

/**
 * Announces expected jobs that were not created in time, once for each time by which one was due. Looks for jobs only when one is
 * due.
 * @throws AppError unavailable
 */
export async function announceMissing(deps: ScanDeps): Promise<void> {
  const { stores, clock, expect, staleAfterSeconds } = deps;
  await stores.expectations.keepOnly(expect.map(({ id }) => id));
  if (expect.length === 0) return;
  const now = clock.now();
  const resumedAt = await recordScan(deps);
  const known = new Map((await stores.expectations.list()).map((one) => [one._id, one]));
  for (const expected of expect) {
    const { id, name } = expected;
    const expectation = known.get(id);
    if (expectation?.name !== name) {
      const newest = await findNewest(stores.jobs, name, new Date(0));
      await stores.expectations.begin(id, name, newest ?? null);
      continue;
    }
    const schedule = scheduleOf(expected);
    if (latestDue(expectation, schedule, now) === undefined) continue;
    const newest = await findNewest(stores.jobs, name, expectation.lastSeenAt ?? expectation.since);
    if (newest) await stores.expectations.seen(expectation, newest);
    const seen = newest ? { ...expectation, lastSeenAt: newest, missedAt: null } : expectation;
    const due = latestDue(seen, schedule, now);
    if (due === undefined || isExcused(due, resumedAt, staleAfterSeconds, now)) continue;
    await stores.expectations.missed(seen, due);
  }
}

/** Returns whether the job may have been unable to start in an outage of Signalbox: it has one more stale period. */
function isExcused(due: Date, resumedAt: Date | null, staleAfterSeconds: number, now: Date): boolean {
  if (resumedAt === null || due > resumedAt) return false;
  return now.getTime() < resumedAt.getTime() + staleAfterSeconds * 1_000;
}
