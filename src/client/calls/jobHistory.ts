import type { Call, CallOptions } from "../api.ts";

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

/** Reads the history of jobs, for the page: it is not part of the client. */
export const readJobHistory = (call: Call, query: { span: HistorySpan; name?: string }, options?: CallOptions) =>
  call<JobHistory>("GET", "/api/stats/history", { ...options, query });
