import type { DeliveryCounts } from "../../wire/delivery.ts";
import type { NameHistory } from "../../wire/history.ts";
import type { Budget } from "../../wire/runs/budget.ts";
import type { RunStats } from "../../wire/runs/run.ts";
import type { Settings } from "../../wire/settings.ts";
import type { JobErrors } from "../../wire/stats.ts";
import type { Call, CallOptions } from "../api.ts";
import { filterQuery, pathSegment } from "../connection.ts";
import type { DeliveryKind } from "../records/deliveries.ts";
import type { JobFilter } from "../records/options.ts";
import type { Run } from "../records/runs.ts";
import type { Stats } from "../records/service.ts";

/** Calls for the dashboard, and some for the command line: they are not part of the client. */

/** Returns the call that counts the deliveries that match a filter. */
export const deliveryCounts =
  (call: Call) => (filter: { channel?: string; kind?: DeliveryKind; rule?: string }, options?: CallOptions) =>
    call<DeliveryCounts>("GET", "/api/deliveries/counts", { ...options, query: filter });

/** Returns the call that counts the jobs that match a filter. */
export const jobCounts = (call: Call) => (filter: JobFilter, options?: CallOptions) =>
  call<Stats>("GET", "/api/stats", { ...options, query: filterQuery(filter) });

/** Filters of the counts of runs: those of the list without the status. */
export interface RunStatsQuery {
  sessionKey?: string;
  mapping?: string;
  /** Words of the name, or the beginning of the runId. */
  search?: string;
  createdFrom?: string;
  createdBefore?: string;
}

/** Counts runs. */
export const readRunStats = (call: Call, query: RunStatsQuery, options?: CallOptions) =>
  call<RunStats>("GET", "/api/stats/runs", { ...options, query: { ...query } });

/** Reads the newest jobs by name. */
export const readHistory = (
  call: Call,
  query: { window: string; name?: string; cursor?: string },
  options?: CallOptions,
) => call<{ names: NameHistory[]; nextCursor: string | null }>("GET", "/api/history", { ...options, query });

/** Reads the failures of the last day by message. */
export const readJobErrors = (call: Call, options?: CallOptions) => call<JobErrors>("GET", "/api/stats/jobs", options);

/** Reads the budgets. */
export const readBudgets = (call: Call, options?: CallOptions) =>
  call<{ budgets: Budget[] }>("GET", "/api/budgets", options);

/** Reads the settings. */
export const readSettings = (call: Call, options?: CallOptions) => call<Settings>("GET", "/api/settings", options);

/** The calls that create a link which shows a job without a log-in, and that revoke all of a job's. */
export const shareCalls = (call: Call) => ({
  create: (jobId: string, body: { ttlSeconds?: number; include?: ("output" | "log")[] }) =>
    call<{ url: string; expiresAt: string }>("POST", `/api/jobs${pathSegment(jobId)}/share`, { body }),
  revoke: (jobId: string) => call<{ ok: true }>("DELETE", `/api/jobs${pathSegment(jobId)}/share`),
});

/** Starts a new run with the request of an ended one. */
export const runAgain = (call: Call, runId: string, options?: CallOptions) =>
  call<Run>("POST", `/api/runs${pathSegment(runId)}/again`, options);

/** Starts a run with a test message. */
export const testHook = (call: Call, options?: CallOptions) =>
  call<{ runId: string }>("POST", "/api/hooks/test", options);
