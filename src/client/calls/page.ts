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

/** Filters of the counts of runs: those of the list without the status. */
interface RunStatsQuery {
  sessionKey?: string;
  mapping?: string;
  /** Words of the name, or the beginning of the runId. */
  search?: string;
  createdFrom?: string;
  createdBefore?: string;
}

/** Returns calls for the dashboard, and some for the command line: they are not part of the client. */
export const pageCalls = (call: Call) => ({
  /** Counts the deliveries that match a filter. */
  deliveryCounts: (query: { channel?: string; kind?: DeliveryKind; rule?: string }, options?: CallOptions) =>
    call<DeliveryCounts>("GET", "/api/deliveries/counts", { ...options, query }),
  /** Counts the jobs that match a filter. */
  jobCounts: (filter: JobFilter, options?: CallOptions) =>
    call<Stats>("GET", "/api/stats", { ...options, query: filterQuery(filter) }),
  /** Counts runs. */
  runStats: (query: RunStatsQuery, options?: CallOptions) =>
    call<RunStats>("GET", "/api/stats/runs", { ...options, query: { ...query } }),
  /** Reads the newest jobs by name. */
  history: (query: { window: string; name?: string; cursor?: string }, options?: CallOptions) =>
    call<{ names: NameHistory[]; nextCursor: string | null }>("GET", "/api/history", { ...options, query }),
  /** Reads the failures of the last day by message. */
  jobErrors: (options?: CallOptions) => call<JobErrors>("GET", "/api/stats/jobs", options),
  budgets: (options?: CallOptions) => call<{ budgets: Budget[] }>("GET", "/api/budgets", options),
  settings: (options?: CallOptions) => call<Settings>("GET", "/api/settings", options),
  /** Creates a link which shows a job without a log-in. */
  share: (jobId: string, body: { ttlSeconds?: number; include?: ("output" | "log")[] }) =>
    call<{ url: string; expiresAt: string }>("POST", `/api/jobs${pathSegment(jobId)}/share`, { body }),
  /** Revokes all links that show a job without a log-in. */
  revokeShares: (jobId: string) => call<{ ok: true }>("DELETE", `/api/jobs${pathSegment(jobId)}/share`),
  /** Starts a new run with the request of an ended one. */
  runAgain: (runId: string, options?: CallOptions) =>
    call<Run>("POST", `/api/runs${pathSegment(runId)}/again`, options),
  /** Starts a run with a test message. */
  testHook: (options?: CallOptions) => call<{ runId: string }>("POST", "/api/hooks/test", options),
});
