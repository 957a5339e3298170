import type { Status } from "./jobs.ts";

export interface JobFilter {
  status?: Status | readonly Status[] | undefined;
  /** A prefix of the name, case-insensitive. */
  name?: string | undefined;
  /** Words that each begin a word of the name, or a prefix of the jobId. Lists take it, deletions do not. */
  search?: string | undefined;
  /** A prefix of the jobId. */
  jobId?: string | undefined;
  /** The children of this job. */
  parentJobId?: string | undefined;
  /** Leaves out the children of all jobs. Lists take it, deletions do not. */
  children?: "hide" | undefined;
  createdFrom?: string | undefined;
  createdBefore?: string | undefined;
  updatedFrom?: string | undefined;
  updatedBefore?: string | undefined;
  stale?: boolean | undefined;
  /** Failed jobs whose cancellation was requested, or all others. */
  cancelled?: boolean | undefined;
  /** Values that the metadata must have; the keys of nested values are joined with dots. */
  metadata?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

export interface Page {
  /** Maximum number of rows; 100 by default. */
  limit?: number | undefined;
  /** The nextCursor of the previous page. */
  cursor?: string | undefined;
}

export type WakeMode = "now" | "next-heartbeat";

export interface AgentHook {
  message: string;
  name?: string;
  sessionKey?: string;
  wakeMode?: WakeMode;
  deliver?: boolean;
  channel?: string;
  to?: string;
  model?: string;
  thinking?: string;
  timeoutSeconds?: number;
  /** Address to which the end of the run is sent as a signed webhook; its host must be allowed by the operator. */
  callbackUrl?: string;
}
