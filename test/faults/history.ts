/**
 * What the checker is given: what clients asked for and were answered, what readers saw, what the stores hold in the end,
 * and what the outside services were sent.
 */

/** A report of a step, sent again until it is taken, and only then followed by the next one of its job. */
export interface Report {
  readonly jobId: string;
  readonly stepKey: string;
  /** Of the step, and what that comes to in the job. */
  readonly progress: number;
  readonly jobProgress: number;
  /** Its own among all reports of the job. */
  readonly message: string;
  readonly output: string | null;
  acknowledged: boolean;
}

/** One hook, sent under one Idempotency-Key until it is taken, now and then also after that. */
export interface Hook {
  /** Found in everything that comes of it. */
  readonly mark: string;
  readonly hook: "agent" | "wake" | "mapped" | "items" | "event";
  /** Constant sessions; those of one session are sent one after the other. */
  readonly session: string | null;
  /** What becomes of it: a run, or an event, for each of these. */
  readonly marks: readonly string[];
  /** Where the reply is to go. */
  readonly to: { readonly channel: string; readonly to: string } | null;
  /** The ids of each answer that took it. */
  readonly answers: string[][];
}

/** A job as one reader saw it, in the order of the history. */
export interface Read {
  readonly reader: string;
  readonly jobId: string;
  readonly progress: number;
  readonly status: string;
  /** Undefined where the reader is not shown it. */
  readonly hasOutput?: boolean;
}

/** A run as one reader saw it. */
export interface RunRead {
  readonly reader: string;
  readonly runId: string;
  readonly status: string;
  readonly reply: string | null;
}

/** An answer that no fault excuses. */
export interface Refusal {
  readonly what: string;
  readonly status: number;
  readonly text: string;
}

/** What a model was asked in one turn, and the mark of its answer. */
export interface Turn {
  /** Null for the main session's. */
  readonly mark: string | null;
  /** Marks of the events that the main session was told of. */
  readonly told: readonly string[];
  readonly answer: string;
}

/** What people see in a chat. */
export interface Post {
  readonly channel: string;
  readonly to: string;
  readonly text: string;
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
  /** What the agent was asked; "" of one that became an event. */
  readonly message: string;
  readonly sessionKey: string;
  readonly status: string;
  readonly settled: boolean;
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
}

/** Runs, events, messages and deliveries in the order in which MongoDB took them. */
export interface Stored {
  readonly jobs: readonly StoredJob[];
  readonly runs: readonly StoredRun[];
  readonly events: readonly StoredEvent[];
  readonly messages: readonly StoredMessage[];
  readonly deliveries: readonly StoredDelivery[];
}

export interface History {
  readonly reports: readonly Report[];
  readonly hooks: readonly Hook[];
  readonly reads: readonly Read[];
  readonly runReads: readonly RunRead[];
  readonly refusals: readonly Refusal[];
  readonly turns: readonly Turn[];
  readonly posts: readonly Post[];
  /** Processes that ended by themselves once they were ready, with what they said. */
  readonly crashes: readonly string[];
  readonly stored: Stored;
}
