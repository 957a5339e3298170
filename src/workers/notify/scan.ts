import { startPeriodic } from "../periodic.ts";
import { announceMissing } from "./expectScan.ts";
import { recordScan, type ScanDeps } from "./recordScan.ts";

/** Maximum jobs that one command announces. */
const PAGE_SIZE = 500;
/** Maximum commands of one part in a pass, so that many stale jobs do not delay the other parts. The next pass goes on. */
const MAX_PAGES = 20;

/**
 * Starts the search for what no request reports: jobs that have become stale or slow, expected jobs that are missing, and notifications
 * that are not dispatched. Each pass looks up only records that are due, so that no pause follows a long one.
 */
export function startScan(deps: ScanDeps): { close(): Promise<void> } {
  const parts = [announceStale, announceSlow, announceMissing, triggerDispatch];
  return startPeriodic("scan", { everyMs: deps.timings.everyMs, pauseFactor: 0 }, parts, deps);
}

/** Announces the jobs that have become stale to rules and to the sessions that they wake, each once. */
async function announceStale(deps: ScanDeps, lost: AbortSignal): Promise<void> {
  const { stores, clock } = deps;
  const scan = { now: clock.now(), resumedAt: await recordScan(deps) };
  for (let page = 0; page < MAX_PAGES && !lost.aborted; page++) {
    if ((await stores.jobs.noteSilent(scan, PAGE_SIZE)) < PAGE_SIZE) return;
  }
}

/** Announces the jobs that take longer than rules allow. */
async function announceSlow({ stores, clock, rules }: ScanDeps, lost: AbortSignal): Promise<void> {
  const scan = { now: clock.now(), rules: rules.flatMap(({ slow }) => slow ?? []) };
  if (scan.rules.length === 0) return;
  for (let page = 0; page < MAX_PAGES && !lost.aborted; page++) {
    if ((await stores.jobs.noteSlow(scan, PAGE_SIZE)) < PAGE_SIZE) return;
  }
}

/**
 * Triggers the dispatch of notifications that are left over, because Redis was emptied or a try has failed, and of summaries.
 */
async function triggerDispatch({ stores, queues, clock, timings }: ScanDeps): Promise<void> {
  const now = clock.now();
  const before = new Date(now.getTime() - timings.minAgeMs);
  if ((await stores.outbox.hasLeft(before)) || (await stores.alerts.hasDue(now))) queues.noted();
}
