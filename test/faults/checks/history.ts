/**
 * The input of the checker: the requests and responses of clients, the reads, the final state of the stores, and the
 * requests to the external services.
 */

/** A report of a step, which is retried until it is accepted and before the next one of its job is sent. */
export interface Report {
  readonly jobId: string;
  readonly stepKey: string;
  /** The step's progress, and the job's progress that results. */
  readonly progress: number;
  readonly jobProgress: number;
  /** Unique among all reports of the job. */
  readonly message: string;
  readonly output: string | null;
  acknowledged: boolean;
}

/** A hook, retried under one Idempotency-Key until it is accepted, and sometimes repeated afterwards. */
export interface Hook {
  /** A text that is part of everything that results from the hook. */
  readonly mark: string;
  readonly hook: "agent" | "wake" | "mapped" | "items" | "event";
  /** A constant session key. Hooks of one session are sent in sequence. */
  readonly session: string | null;
  /** The marks of the resulting runs or events. */
  readonly marks: readonly string[];
  /** The reply target. */
  readonly to: { readonly channel: string; readonly to: string } | null;
  /** The ids in each response that accepted it. */
  readonly answers: string[][];
}

/** A job as a reader saw it, in the order of reads. */
export interface Read {
  readonly reader: string;
  readonly jobId: string;
  readonly progress: number;
  readonly status: string;
  /** Undefined if the response lacks it. */
  readonly hasOutput?: boolean;
}

/** A run as a reader saw it. */
export interface RunRead {
  readonly reader: string;
  readonly runId: string;
  readonly status: string;
  readonly reply: string | null;
}

/** A response that no fault explains. */
export interface Refusal {
  readonly what: string;
  readonly status: number;
  readonly text: string;
}

/** A model request of one turn, with the mark of its response. */
export interface Turn {
  /** Null for a turn of the main session. */
  readonly mark: string | null;
  /** Marks of the events in the main session's turn. */
  readonly eventMarks: readonly string[];
  readonly answer: string;
}

/** A message in a chat. */
export interface Post {
  readonly channel: string;
  readonly to: string;
  readonly text: string;
}

/** A request that the receiver of webhooks has answered. */
export interface Notification {
  /** Its `webhook-id`. */
  readonly id: string;
  readonly type: string;
  /** The job, run, gate or delivery: its kind and its id. */
  readonly subject: string;
  /** When it was received, in milliseconds of the clock of this process. */
  readonly atMs: number;
}

/** An event that an acknowledged request has made. */
export interface Transition extends Pick<Notification, "type" | "subject"> {
  /** When the request was acknowledged. */
  readonly atMs: number;
}

/** A job that is announced as stale. */
export interface StoredSilence {
  readonly jobId: string;
  /** The id of the event. */
  readonly id: string;
}

export interface StoredJob {
  readonly jobId: string;
  readonly status: string;
  readonly progress: number;
  readonly message: string | null;
  readonly output: string | null;
  readonly steps: readonly {
    readonly stepKey: string;
    readonly status: string;
    readonly progress: number;
    readonly attempts: number;
  }[];
}

export interface StoredRun {
  readonly id: string;
  /** The message to the agent; "" for a run that became an event. */
  readonly message: string;
  readonly sessionKey: string;
  readonly status: string;
  readonly finalized: boolean;
  readonly attempts: number;
  readonly reply: string | null;
  readonly error: string | null;
}

interface StoredEvent {
  readonly id: string;
  readonly text: string;
  readonly source: string;
  readonly waiting: boolean;
}

interface StoredMessage {
  readonly sessionKey: string;
  readonly role: string;
  readonly content: string;
}

export interface StoredDelivery {
  readonly id: string;
  readonly runId: string | null;
  readonly channel: string;
  readonly to: string | null;
  readonly text: string;
  readonly state: string;
  readonly maybeTwice: boolean;
  readonly reason: string | null;
  /** The type of the event that it carries; null for a reply. */
  readonly eventType: string | null;
}

/** Runs, events, messages and deliveries in the order of their insertion. */
export interface Stored {
  readonly jobs: readonly StoredJob[];
  readonly runs: readonly StoredRun[];
  readonly events: readonly StoredEvent[];
  readonly messages: readonly StoredMessage[];
  readonly deliveries: readonly StoredDelivery[];
  readonly silences: readonly StoredSilence[];
}

export interface History {
  readonly reports: readonly Report[];
  readonly hooks: readonly Hook[];
  readonly reads: readonly Read[];
  readonly runReads: readonly RunRead[];
  readonly refusals: readonly Refusal[];
  readonly turns: readonly Turn[];
  readonly posts: readonly Post[];
  readonly received: readonly Notification[];
  /** The ids of the webhooks that a receiver has accepted which refuses half of them at first. */
  readonly accepted: readonly string[];
  readonly transitions: readonly Transition[];
  /** Maximum time from a transition to its notification; undefined where faults may delay one for longer. */
  readonly notifiedWithinMs: number | undefined;
  /** Processes that exited by themselves after they were ready, with their output. */
  readonly crashes: readonly string[];
  readonly stored: Stored;
}
