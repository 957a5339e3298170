/** Generated from src/wire by `npm run docs`. Times are ISO 8601 in UTC with milliseconds. */

/** Any JSON object. */
export type FreeObject = Record<string, unknown>;

/** The status of a job or a step. */
export type Status = "running" | "completed" | "failed";

/** A link of a job or a step. */
export interface Link {
  /** A name for people. */
  title: string;
  /** An address that begins with `https://` or `http://`. */
  url: string;
}

/** Numbers of steps or jobs by status. */
export interface StatusCounts {
  /** The number of running ones. */
  running: number;
  /** The number of completed ones. */
  completed: number;
  /** The number of failed ones. */
  failed: number;
}

/** A step without its output, as in live events and in `currentStep`. */
export interface StepSummary {
  /** Identifies the step. Assigned by the service. */
  stepId: string;
  /** Identifies the job. Chosen by the client; percent-encode it in a URL. */
  jobId: string;
  /** Identifies the step within its job. Chosen by the client; percent-encode it in a URL. */
  stepKey: string;
  /** A name for people. */
  stepName: string;
  /** Whether the work is in progress, has succeeded or has failed. */
  status: Status;
  /** Progress of the step in percent. */
  progress: number;
  /** The latest message of the step. */
  message: string | null;
  /** When the step was first reported. */
  createdAt: string;
  /** When the step was last reported. */
  updatedAt: string;
  /** When the current attempt of the step started. */
  startedAt: string;
  /** Number of attempts. Increases when a failed or completed step is reported as running again. */
  attempts: number;
  /** When the step was last reported. */
  lastReportAt: string;
  /** Links to results, logs and the like. */
  links: Link[];
  /** True if the step is running and has not been reported for longer than the job allows (`staleAfterSeconds`). */
  stale: boolean;
}

/** An attempt of a step that failed. */
export interface FailedStepAttempt {
  /** The number of the attempt. */
  attempt: number;
  /** The message of the step when it failed, at most 1,000 characters of it. */
  error: string | null;
  /** When the attempt started. */
  startedAt: string;
  /** When the attempt failed. */
  endedAt: string;
}

/** A step, as the service returns it. */
export interface Step extends StepSummary {
  /** Result of the step: any JSON object. */
  output: FreeObject | null;
  /** The latest 20 failed attempts, oldest first. Present if an attempt has failed. */
  failedAttempts?: FailedStepAttempt[];
  /** Duration of the latest attempt in milliseconds. Present when the step is completed. */
  durationMs?: number;
}

/** A request to cancel a job. */
export interface CancelRequest {
  /** When cancellation was requested first. */
  requestedAt: string;
  /** Why the result is no longer wanted. */
  reason: string | null;
}

/** A transition of a job that wakes a session. */
export type ReturnEvent = "completed" | "failed" | "stale" | "gate";

/** The session that a job wakes. */
export interface ReturnTo {
  /** The session that is woken. */
  sessionKey: string;
  /** When the session is woken. */
  on: ReturnEvent[];
  /** Whether the reply is sent to a channel. */
  deliver: boolean;
  /** The channel for the reply; `last` is that of the main session. */
  channel: string;
  /** The recipient; null means that of the main session. */
  to: string | null;
}

/** The session that a job is to wake, and when. */
export interface ReturnTarget {
  /** The key of a session that exists. The token of a run sends `self`, which is the session of that run. */
  sessionKey: string;
  /** When the session is woken. */
  on?: ReturnEvent[];
  /** Whether the reply is sent to a channel. */
  deliver?: boolean;
  /** The channel for the reply; `last` is that of the main session. */
  channel?:
    | "whatsapp"
    | "telegram"
    | "discord"
    | "slack"
    | "mattermost"
    | "signal"
    | "imessage"
    | "msteams"
    | "ntfy"
    | "email"
    | "log"
    | "last";
  /** The recipient; null means that of the main session. */
  to?: string | null;
}

/** A transition that has woken a session. */
export interface JobReturn {
  /**
   * `completed` and `failed`: the job ended. `stale`: it was not reported for too long. `gate`: a question of it was
   * answered or has expired.
   */
  event: ReturnEvent;
  /** The run that the session received; null if the session no longer existed. */
  runId: string | null;
  /** When the transition happened. */
  at: string;
}

/** A transition of a job that a return run is about. */
export interface ReturnOf {
  /** The job. */
  jobId: string;
  /**
   * `completed` and `failed`: the job ended. `stale`: it was not reported for too long. `gate`: a question of it was
   * answered or has expired.
   */
  event: ReturnEvent;
}

/** A job as in live events. */
export interface JobSummary {
  /** Identifies the job. Chosen by the client; percent-encode it in a URL. */
  jobId: string;
  /** A name for people. */
  name: string | null;
  /** A description for people. */
  description: string | null;
  /** Whether the work is in progress, has succeeded or has failed. */
  status: Status;
  /** Progress of the whole job in percent. Never decreases. */
  progress: number;
  /** The latest message of the job or of one of its steps. */
  message: string | null;
  /** When the job was created. */
  createdAt: string;
  /** When the job last changed. */
  updatedAt: string;
  /** When the job or one of its steps was last reported. Null before the first report. */
  lastReportAt: string | null;
  /** True if the job is running and has not been reported for longer than `staleAfterSeconds`. */
  stale: boolean;
  /**
   * When the job becomes stale unless it is reported again. Null after the job has ended, and while it waits for a
   * person.
   */
  staleAt: string | null;
  /**
   * Seconds without a report after which the running job counts as stale. Null means the configured
   * `jobs.staleAfterSeconds`.
   */
  staleAfterSeconds: number | null;
  /**
   * How long jobs of this name took that completed in the last 60 days, without waiting for gates. Null for less than
   * five such jobs.
   */
  usual: { p50Ms: number; p95Ms: number; count: number } | null;
  /**
   * When the running job ends if it takes as long as half of those before it. Null without `usual`, and while it waits
   * for a person.
   */
  expectedEndAt: string | null;
  /**
   * The request to cancel the job; null without one. A failed job with such a request is cancelled. Null again when the
   * job is started again after its end.
   */
  cancel: CancelRequest | null;
  /** The keys of the open gates, oldest first. While the job waits for a person, it is not stale. */
  waitingFor: string[];
  /** The session of the agent that the job wakes; null if it wakes none. */
  returnTo: ReturnTo | null;
  /** The latest transitions that have woken a session, at most 20, oldest first. */
  returns: JobReturn[];
  /** The running step that was reported last. Null if no step is running. */
  currentStep: StepSummary | null;
  /** The number of the job's steps by status. */
  stepCounts: StatusCounts;
  /** Links to results, logs and the like. */
  links: Link[];
  /** The number of the jobs that name this one as their parent, by status; at most 100,000. */
  children: StatusCounts;
  /**
   * The trace of the run that the job is in, as the header `traceparent` of W3C Trace Context states it, for spans of
   * your own below it. Null unless the service sends traces (`otel.traces`).
   */
  traceparent: string | null;
  /** The job that this one is a part of. It need not exist. */
  parentJobId: string | null;
}

/** A job. A token without the scope `jobs:read` receives only its ids, status, progress and times from a change. */
export interface Job extends JobSummary {
  /** Input of the job: any JSON object. */
  input: FreeObject | null;
  /** Data to find the job by, such as `{"team": "data"}`: any JSON object. */
  metadata: FreeObject | null;
  /** Result of the job: any JSON object. Null until the job completes. */
  output: FreeObject | null;
  /** The step that `stepKey` names; null if it does not exist. */
  step?: Step | null;
  /** All steps, oldest first; present with `include=steps`. */
  steps?: Step[];
  /**
   * Present once cancellation of the job was requested: stop the work and report the step as failed with `failJob`.
   * Reports that are in flight at the same time can still lack it.
   */
  cancelRequested?: true;
}

/** The fields of a job that its creator sets. Absent fields stay as they are; null clears a field. */
export interface JobFields {
  /** A name for people. */
  name?: string | null;
  /** A description for people. */
  description?: string | null;
  /** Input of the job: any JSON object. */
  input?: object | null;
  /** Data to find the job by, such as `{"team": "data"}`: any JSON object. */
  metadata?: object | null;
  /** Seconds without a report after which a running job counts as stale. */
  staleAfterSeconds?: number | null;
  /**
   * Address to which the end of the job is sent as a signed webhook. Its host must match `outbound.allowedHosts` of the
   * configuration.
   */
  callbackUrl?: string | null;
  /** Links to show beside it, such as to a log or a result: at most 20. They replace the former ones. */
  links?: Link[] | null;
  /** The job that this one is a part of. It need not exist, and must be one that the token may use. */
  parentJobId?: string | null;
  /**
   * The session of the agent that is woken when the job ends, or by the transitions in `on` (by default `completed` and
   * `failed`). `deliver` is false by default.
   */
  returnTo?: string | ReturnTarget | null;
}

/** The fields of a job, and those that only a manual correction sets. */
export interface JobChange extends JobFields {
  /** Whether the work is in progress, has succeeded or has failed. */
  status?: Status;
  /** Progress of the job in percent, to correct it by hand. A lower value than the current one is ignored. */
  progress?: number;
  /** The message of the job. Steps set it too. */
  message?: string | null;
  /** Result of the job, to correct it by hand: any JSON object. */
  output?: object | null;
}
