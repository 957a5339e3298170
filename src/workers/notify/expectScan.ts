import { findNewest } from "../../models/jobs/search/newestJob.ts";
import type { ExpectationDoc } from "../../models/notifications/expectation.ts";
import { durationMs } from "../../shared/config/formats/duration.ts";
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
  for (const { id, name, every, grace } of expect) {
    const expectation = known.get(id);
    if (expectation?.name !== name) {
      const newest = await findNewest(stores.jobs, name, new Date(0));
      await stores.expectations.begin(id, name, newest ?? null);
      continue;
    }
    const period = { everyMs: durationMs(every), graceMs: grace === undefined ? 0 : durationMs(grace) };
    if (latestDue(expectation, period, now) === undefined) continue;
    const newest = await findNewest(stores.jobs, name, expectation.lastSeenAt ?? expectation.since);
    if (newest) await stores.expectations.seen(expectation, newest);
    const seen = newest ? { ...expectation, lastSeenAt: newest, missedAt: null } : expectation;
    const due = latestDue(seen, period, now);
    if (due === undefined || isExcused(due, resumedAt, staleAfterSeconds, now)) continue;
    await stores.expectations.missed(seen, due);
  }
}

/** Returns the latest time by which a job was due and not announced as missing; undefined if there is none. */
function latestDue(
  { since, lastSeenAt, missedAt }: ExpectationDoc,
  { everyMs, graceMs }: { everyMs: number; graceMs: number },
  now: Date,
): Date | undefined {
  // A job from before the expectation is no reason to miss the next one at once.
  const from = Math.max((lastSeenAt ?? since).getTime(), since.getTime());
  const periods = Math.floor((now.getTime() - graceMs - from) / everyMs);
  if (periods < 1) return undefined;
  const due = new Date(from + periods * everyMs + graceMs);
  return missedAt !== null && due <= missedAt ? undefined : due;
}

/** Returns whether the job may have been unable to start in an outage of Signalbox: it has one more stale period. */
function isExcused(due: Date, resumedAt: Date | null, staleAfterSeconds: number, now: Date): boolean {
  if (resumedAt === null || due > resumedAt) return false;
  return now.getTime() < resumedAt.getTime() + staleAfterSeconds * 1_000;
}
