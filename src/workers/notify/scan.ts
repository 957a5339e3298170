import { startPeriodic } from "../periodic.ts";
import { announceMissing } from "./expectScan.ts";
import type { ScanDeps } from "./scanDeps.ts";
import { announceStale } from "./staleScan.ts";

/** Starts the search for what no request reports: jobs that have become stale, and expected jobs that are missing. */
export function startScan(deps: ScanDeps): { close(): Promise<void> } {
  return startPeriodic("scan", deps.timings.everyMs, [announceStale, announceMissing], deps);
}
