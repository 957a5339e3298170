/** What the service answers with. Times are ISO 8601 UTC in milliseconds. */

export type Status = "running" | "completed" | "failed";
export type FreeObject = Record<string, unknown>;

/** A step as live events and `currentStep` show it. */
export interface StepSummary {
  /** Given by the service. */
  stepId: string;
  jobId: string;
  stepKey: string;
  stepName: string;
  status: Status;
  /** The step's own, 0–100. */
  progress: number;
  message: string | null;
  createdAt: string;
  updatedAt: string;
  /** When the present attempt began. */
  startedAt: string;
  attempts: number;
  lastReportAt: string;
  stale: boolean;
}

export interface Step extends StepSummary {
  output: FreeObject | null;
  /** Of the present attempt, once it is completed; only where a step is read on its own. */
  durationMs?: number;
}

/** A job as live events show it. */
export interface JobSummary {
  jobId: string;
  name: string | null;
  description: string | null;
  status: Status;
  /** Overall, 0–100; never goes back. */
  progress: number;
  message: string | null;
  createdAt: string;
  updatedAt: string;
  lastReportAt: string | null;
  /** Running, and silent for too long. */
  stale: boolean;
  /** From when on it counts as stale without another report; null once it has ended. */
  staleAt: string | null;
  staleAfterSeconds: number | null;
  /** Of the steps still running the one most recently reported. */
  currentStep: StepSummary | null;
}

export interface Job extends JobSummary {
  input: FreeObject | null;
  metadata: FreeObject | null;
  output: FreeObject | null;
  /** Where it was asked for by its key; null when there is none. */
  step?: Step | null;
  /** Where they were asked for; oldest first. */
  steps?: Step[];
}

/** What PUT /api/jobs/:jobId may set; what is left out stays as it is, null clears it. */
export interface JobFields {
  name?: string | null;
  description?: string | null;
  input?: object | null;
  metadata?: object | null;
  staleAfterSeconds?: number | null;
}

export interface JobFilter {
  status?: Status | readonly Status[] | undefined;
  /** How the name begins; case does not matter. */
  name?: string | undefined;
  /** How the jobId begins. */
  jobId?: string | undefined;
  createdFrom?: string | undefined;
  createdBefore?: string | undefined;
  updatedFrom?: string | undefined;
  updatedBefore?: string | undefined;
  stale?: boolean | undefined;
  /** Values that the metadata must have; keys of what is nested are joined by dots. */
  metadata?: Readonly<Record<string, string | readonly string[]>> | undefined;
}

export interface Page {
  /** Most rows; 100 by default. */
  limit?: number | undefined;
  /** The nextCursor of the page before. */
  cursor?: string | undefined;
}

export interface Stats {
  jobs: { total: number; running: number; completed: number; failed: number; stale: number };
  lastHour: { created: number; completed: number; failed: number };
}

export type RunStatus = "queued" | "running" | "completed" | "failed" | "dropped";

/** A run of a hook as live events show it. */
export interface RunSummary {
  runId: string;
  /** `wake`: an event of the main session. */
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
  deliveries: Delivery[];
}

/** What was asked of the agent, and what came: the call of a mapped hook. */
export interface RunRequest {
  request: {
    message: string;
    /** The operator's own words before the message. */
    instructions?: string;
    model: string | null;
    thinking: string | null;
    timeoutSeconds: number;
    deliver: boolean;
    channel: string;
    to: string | null;
    wakeMode: WakeMode;
    trackAsJob: boolean;
    /** The message is the prompt as it is. */
    allowUnsafe?: boolean;
  } | null;
  /** Its path and payload are null once the mapping has made a request of it. */
  call: { mapping: string; path: string | null; payload: unknown } | null;
}

export type DeliveryState = "pending" | "sent" | "failed";

export interface Delivery {
  deliveryId: string;
  /** Null for a turn of the main session. */
  runId: string | null;
  channel: string;
  to: string | null;
  state: DeliveryState;
  attempts: number;
  parts: { state: "pending" | "sending" | "sent"; id: string | null }[];
  /** A part may have arrived twice. */
  maybeTwice: boolean;
  /** Why it failed, or why it waits. */
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
  /** In the last 24 hours. */
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

/** What a browser may do: `needsToken` while it has to log in. */
export interface Access {
  needsToken: boolean;
  access: "full" | "read" | null;
}
