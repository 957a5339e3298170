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

export interface Step extends StepSummary {
  output: FreeObject | null;
  /** The duration of the current attempt once it is completed; only in the response for a single step. */
  durationMs?: number;
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
  /** When the job becomes stale without another report; null once it has ended. */
  staleAt: string | null;
  staleAfterSeconds: number | null;
  /** The running step with the most recent report. */
  currentStep: StepSummary | null;
}

export interface Job extends JobSummary {
  input: FreeObject | null;
  metadata: FreeObject | null;
  output: FreeObject | null;
  /** Present if the request names a step by its key; null if there is no such step. */
  step?: Step | null;
  /** Present if the request includes the steps; oldest first. */
  steps?: Step[];
}

/** The fields of PUT /api/jobs/:jobId. Absent fields stay as they are; null clears a field. */
export interface JobFields {
  name?: string | null;
  description?: string | null;
  input?: object | null;
  metadata?: object | null;
  staleAfterSeconds?: number | null;
}

export interface JobFilter {
  status?: Status | readonly Status[] | undefined;
  /** A prefix of the name, case-insensitive. */
  name?: string | undefined;
  /** A prefix of the jobId. */
  jobId?: string | undefined;
  createdFrom?: string | undefined;
  createdBefore?: string | undefined;
  updatedFrom?: string | undefined;
  updatedBefore?: string | undefined;
  stale?: boolean | undefined;
  /** Values that the metadata must have; the keys of nested values are joined with dots. */
  metadata?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

export interface Page {
  /** Maximum number of rows; 100 by default. */
  limit?: number | undefined;
  /** The nextCursor of the previous page. */
  cursor?: string | undefined;
}

export interface Stats {
  jobs: { total: number; running: number; completed: number; failed: number; stale: number };
  lastHour: { created: number; completed: number; failed: number };
}

export type RunStatus = "queued" | "running" | "completed" | "failed" | "dropped";

/** A run of a hook as in live events. */
export interface RunSummary {
  runId: string;
  /** `wake` is an event of the main session. */
  kind: "agent" | "wake";
  name: string | null;
  sessionKey: string;
  status: RunStatus;
  attempts: number;
  error: { code: string; message: string } | null;
  createdAt: string;
  startedAt: string | null;
  endedAt: string | null;
}

export interface Run extends RunSummary {
  reply: string | null;
  /** Whether the end of the reply is missing, because the model reached its length limit. */
  replyCutOff: boolean;
  deliveries: Delivery[];
}

/** The request to the agent, and the call of a mapped hook that caused it. */
export interface RunRequest {
  request: {
    message: string;
    /** The operator's instructions, which precede the message. */
    instructions?: string;
    model: string | null;
    thinking: string | null;
    timeoutSeconds: number;
    deliver: boolean;
    channel: string;
    to: string | null;
    wakeMode: WakeMode;
    trackAsJob: boolean;
    /** Whether the message is the prompt itself, without the fence around untrusted text. */
    allowUnsafe?: boolean;
  } | null;
  /** The path and the payload are null once the mapping has been applied. */
  call: { mapping: string; path: string | null; payload: unknown } | null;
}

export type DeliveryState = "pending" | "sent" | "failed";

export interface Delivery {
  deliveryId: string;
  /** The run; null for a turn of the main session. */
  runId: string | null;
  channel: string;
  to: string | null;
  state: DeliveryState;
  attempts: number;
  parts: { state: "pending" | "sending" | "sent"; id: string | null }[];
  /** Whether a part may have arrived twice. */
  maybeTwice: boolean;
  /** Why the delivery failed or waits. */
  reason: string | null;
  notBefore: string | null;
  createdAt: string;
  sentAt: string | null;
}

export interface Session {
  sessionKey: string;
  lastUsedAt: string;
  busy: boolean;
}

export interface Message {
  role: "user" | "assistant";
  content: string;
  createdAt: string;
}

export interface WaitingEvent {
  eventId: string;
  text: string;
  source: string;
  createdAt: string;
}

export interface Channel {
  channel: string;
  configured: boolean;
  pending: number;
  /** Failed deliveries of the last 24 hours. */
  failed: number;
  lastSentAt: string | null;
  lastFailure: string | null;
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
}

/** The access of a browser; `needsToken` tells whether the service requires a login. */
export interface Access {
  needsToken: boolean;
  access: "full" | "read" | null;
}
