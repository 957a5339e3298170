import { type Call, type CallOptions, filterQuery } from "../api.ts";
import { pathSegment } from "../connection.ts";
import type { DeliveryKind, DeliveryState } from "../records/deliveries.ts";
import type { JobFilter } from "../records/options.ts";
import type { Run, RunStatus } from "../records/runs.ts";
import type { Stats } from "../records/service.ts";

/** Calls for the dashboard, and some for the command line: they are not part of the client. */

/** The number of deliveries in each state: see `GET /api/deliveries/counts`. */
export type DeliveryCounts = Record<DeliveryState | "total", number> & { capped: boolean };

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

/** The number of runs by status: see `GET /api/stats/runs`. */
export interface RunStats {
  runs: Record<RunStatus | "total", number>;
  /** Whether more runs match than are counted, so that the numbers are lower bounds. */
  capped: boolean;
}

/** Counts runs. */
export const readRunStats = (call: Call, query: RunStatsQuery, options?: CallOptions) =>
  call<RunStats>("GET", "/api/stats/runs", { ...options, query: { ...query } });

export type HistorySpan = "hour" | "day" | "week";

/** Figures of jobs. Durations are null if no job ended. */
export interface JobFigures {
  started: number;
  completed: number;
  failed: number;
  p50Seconds: number | null;
  p95Seconds: number | null;
}

/** The history of jobs: see `GET /api/stats/history`. */
export interface JobHistory {
  span: HistorySpan;
  periodSeconds: number;
  /** Oldest first; the last one is not over. */
  periods: (JobFigures & { start: string })[];
  /** Those with most jobs first. */
  names: (JobFigures & { name: string })[];
}

/** Reads the history of jobs. */
export const readJobHistory = (call: Call, query: { span: HistorySpan; name?: string }, options?: CallOptions) =>
  call<JobHistory>("GET", "/api/stats/history", { ...options, query });

export interface ConfiguredMapping {
  mapping: string;
  preset: string | null;
  action: "agent" | "wake";
  /** A path if the service does not know its public address; null if the mapping has no address of its own. */
  address: string | null;
  source: string | null;
  when: Record<string, unknown> | null;
  sessionKey: string | null;
}

/** The settings of the service: see `GET /api/settings`. */
export interface Settings {
  versions: { signalbox: string; node: string; mongodb: string | null; redis: string | null; warning: string | null };
  health: { checks: { name: string; ok: boolean }[]; workers: number | null };
  mappings: ConfiguredMapping[];
  rules: string[];
  config: Record<string, unknown>;
}

/** Reads the settings. */
export const readSettings = (call: Call, options?: CallOptions) => call<Settings>("GET", "/api/settings", options);

/** The calls that create a link which shows a job without a log-in, and that revoke all of a job's. */
export const shareCalls = (call: Call) => ({
  create: (jobId: string, body: { ttlSeconds?: number; include?: "output"[] }) =>
    call<{ url: string; expiresAt: string }>("POST", `/api/jobs${pathSegment(jobId)}/share`, { body }),
  revoke: (jobId: string) => call<{ ok: true }>("DELETE", `/api/jobs${pathSegment(jobId)}/share`),
});

/** Starts a new run with the request of an ended one. */
export const runAgain = (call: Call, runId: string, options?: CallOptions) =>
  call<Run>("POST", `/api/runs${pathSegment(runId)}/again`, options);

/** Starts a run with a test message. */
export const testHook = (call: Call, options?: CallOptions) =>
  call<{ runId: string }>("POST", "/api/hooks/test", options);
