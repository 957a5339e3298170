/** The types of the service's requests and responses. Times are ISO 8601 in UTC with milliseconds. */

export type Status = "running" | "completed" | "failed";

export type FreeObject = Record<string, unknown>;

/** A step as in live events and in `currentStep`. */
export interface StepSummary {
  /** Assigned by the service. */
  stepId: string;
  jobId: string;
  stepKey: string;
  stepName: string;
  status: Status;
  /** The step's own progress, 0–100. */
  progress: number;
  message: string | null;
  createdAt: string;
  updatedAt: string;
  /** When the current attempt began. */
  startedAt: string;
  attempts: number;
  lastReportAt: string;
  stale: boolean;
}

/** A failed attempt of a step or of a run. */
export interface FailedAttempt<Error> {
  attempt: number;
  error: Error;
  /** The end of standard error of the program; only of a run, if it wrote something. */
  stderr?: string;
  startedAt: string;
  endedAt: string;
}

export interface Step extends StepSummary {
  output: FreeObject | null;
  /** The duration of the current attempt once it is completed; only in the response for a single step. */
  durationMs?: number;
  /** The latest 20 failed attempts, oldest first; only in the response for a single step, if an attempt has failed. */
  failedAttempts?: FailedAttempt<string | null>[];
}

/** A job as in live events. */
export interface JobSummary {
  jobId: string;
  name: string | null;
  description: string | null;
  status: Status;
  /** The overall progress, 0–100; never decreases. */
  progress: number;
  message: string | null;
  createdAt: string;
  updatedAt: string;
  lastReportAt: string | null;
  /** Whether the job is running without a report for too long. */
  stale: boolean;
  /** When the job becomes stale without another report; null once it has ended, and while it waits for a person. */
  staleAt: string | null;
  staleAfterSeconds: number | null;
  /** The request to cancel the job. A failed job with one is cancelled. */
  cancel: { requestedAt: string; reason: string | null } | null;
  /** The keys of the open gates, oldest first. */
  waitingFor: string[];
  /** The running step with the most recent report. */
  currentStep: StepSummary | null;
}

/** A job. A token without the scope `jobs:read` receives only its ids, status, progress and times from a change. */
export interface Job extends JobSummary {
  input: FreeObject | null;
  metadata: FreeObject | null;
  output: FreeObject | null;
  /** Only in the responses to `put` and `cancel`: present once cancellation was requested. */
  cancelRequested?: true;
  /** Present if the request names a step by its key; null if there is no such step. */
  step?: Step | null;
  /** Present if the request includes the steps; oldest first. */
  steps?: Step[];
}

export type GateStatus = "open" | "answered" | "expired" | "withdrawn";

export type GateAction = "accept" | "decline" | "cancel";

/** A question to a person, attached to a job. */
export interface Gate {
  gateId: string;
  jobId: string;
  key: string;
  /** Grows with each change of the question. Send it with the answer. */
  revision: number;
  title: string;
  message: string | null;
  /** The form as a JSON Schema: MCP's `requestedSchema`. */
  requestedSchema: FreeObject | null;
  status: GateStatus;
  action: GateAction | null;
  content: FreeObject | null;
  answeredBy: string | null;
  createdAt: string;
  answeredAt: string | null;
  expiresAt: string | null;
  /** The action if it expires. */
  onExpiry: GateAction;
  /** Only in the responses to `get` and to the opening: present once cancellation of the job was requested. */
  cancelRequested?: true;
}

export interface GateAnswer {
  action: GateAction;
  /** The entered values, if the action is `accept`. */
  content?: FreeObject | null;
  /** A name for people. */
  answeredBy?: string;
  /** The `revision` of the gate that was shown: the answer is refused if the gate has changed since. */
  revision?: number;
}

/** The fields of PUT /api/jobs/:jobId. Absent fields stay as they are; null clears a field. */
export interface JobFields {
  name?: string | null;
  description?: string | null;
  input?: object | null;
  metadata?: object | null;
  staleAfterSeconds?: number | null;
  /** Address to which the end of the job is sent as a signed webhook; its host must be allowed by the operator. */
  callbackUrl?: string | null;
}

export interface JobFilter {
  status?: Status | readonly Status[] | undefined;
  /** A prefix of the name, case-insensitive. */
  name?: string | undefined;
  /** Words that each begin a word of the name, or a prefix of the jobId. Lists take it, deletions do not. */
  search?: string | undefined;
  /** A prefix of the jobId. */
  jobId?: string | undefined;
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
