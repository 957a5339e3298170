import type { Call, CallOptions } from "../api.ts";
import type { RunStatus } from "../records/runs.ts";

/** Filters of the counts of runs: those of the list without the status. */
export interface RunStatsQuery {
  sessionKey?: string;
  mapping?: string;
  /** Words of the name, or the beginning of the runId. */
  search?: string;
  createdFrom?: string;
  createdBefore?: string;
}

/** The number of runs by status: see `GET /api/stats/runs`. */
export interface RunStats {
  runs: Record<RunStatus | "total", number>;
  /** Whether more runs match than are counted, so that the numbers are lower bounds. */
  capped: boolean;
}

/** Counts runs, for the page: it is not part of the client. */
export const readRunStats = (call: Call, query: RunStatsQuery, options?: CallOptions) =>
  call<RunStats>("GET", "/api/stats/runs", { ...options, query: { ...query } });
