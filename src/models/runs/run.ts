import { mongo, Schema } from "mongoose";
import type { ErrorCode } from "../../shared/errors.ts";
import type { StoredLease } from "../db/lease.ts";

export type RunStatus = "queued" | "running" | "completed" | "failed" | "dropped";
/** A run of an agent, or `wake` for a mapped hook that became an event of the main session. */
export type RunKind = "agent" | "wake";
export type WakeMode = "now" | "next-heartbeat";

/** A validated request to an agent hook, with defaults filled in. */
export interface AgentRequest {
  readonly message: string;
  readonly wakeMode: WakeMode;
  readonly deliver: boolean;
  readonly channel: string;
  readonly to: string | null;
  readonly model: string | null;
  readonly thinking: string | null;
  readonly timeoutSeconds: number;
  /** Whether the run is also shown as a job, under the same id. */
  readonly trackAsJob: boolean;
  /** The operator's text before the message. */
  readonly instructions?: string | undefined;
  /** Whether the operator trusts the message, so that it becomes the prompt unchanged. */
  readonly allowUnsafe?: boolean | undefined;
}

/** A request to a mapped hook. */
export interface MappedCall {
  /** The mapping's key. */
  readonly mapping: string;
  /**
   * The call as JSON: headers, url, path, query and payload, without the sender's secrets. Null once the mapping is applied: the
   * document may have no room for both the call and the resulting message.
   */
  readonly call: string | null;
  /** For a request that became several runs (`forEach`): the id of the stored call, and the item of this run as JSON. */
  readonly item?: { readonly call: string; readonly json: string } | null;
  /** When a failure of the mapping triggers a turn of the main session. */
  readonly wakeMode: WakeMode;
}

export interface RunError {
  readonly code: ErrorCode;
  readonly message: string;
}

export interface RunDoc {
  /** The runId, a UUID. */
  _id: string;
  kind: RunKind;
  name: string | null;
  /** For a mapped run, the key that the mapping gives, until its transform has run. */
  sessionKey: string;
  /** Whether the session was created for this run alone. */
  singleUse: boolean;
  /** Null for a run that the sender requested directly. */
  mapped: MappedCall | null;
  /** `mapping` until the mapping is applied, `turn` afterwards. */
  stage: "mapping" | "turn";
  /** Null while `stage` is mapping, and for a run that became an event. */
  request: AgentRequest | null;
  /**
   * MongoDB's time of insertion. A run that is accepted after the response to another has a greater one, whichever processes
   * accepted them.
   */
  order: mongo.Timestamp;
  status: RunStatus;
  /** Whether it is queued or running. */
  open: boolean;
  attempts: number;
  /** How often it was retried by hand. Each round has its own summary and delivery. */
  round: number;
  reply: string | null;
  error: RunError | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  /** The earliest time of the next attempt. */
  notBefore: Date | null;
  /** The lease of the worker; null unless the run is running. */
  claim: StoredLease | null;
  /** False from the run's end until it is finalized; null before its end. */
  settled: boolean | null;
  /** Whether the transcript of its single-use session has been deleted. */
  forgotten: boolean;
  /** Whether the job that shows the run has been created. It is not created again after its deletion. */
  tracked?: boolean;
  /** The fingerprint of the request that came with the Idempotency-Key from which `_id` is derived. */
  fingerprint?: string | undefined;
}

export const runSchema = new Schema<RunDoc>(
  {
    _id: String,
    kind: String,
    name: String,
    sessionKey: String,
    singleUse: Boolean,
    mapped: Schema.Types.Mixed,
    stage: String,
    request: Schema.Types.Mixed,
    order: Schema.Types.Mixed,
    status: String,
    open: Boolean,
    attempts: Number,
    round: Number,
    reply: String,
    error: Schema.Types.Mixed,
    createdAt: Date,
    startedAt: Date,
    endedAt: Date,
    notBefore: Date,
    claim: Schema.Types.Mixed,
    settled: Boolean,
    forgotten: Boolean,
    tracked: Boolean,
    fingerprint: String,
  },
  { versionKey: false },
);
runSchema.index({ createdAt: -1, _id: -1 });
runSchema.index({ status: 1, createdAt: -1, _id: -1 });
runSchema.index({ sessionKey: 1, createdAt: -1, _id: -1 });
/** Finds the next run of a session, and of every session at once. */
export const NEXT_OF_SESSION = { open: 1, sessionKey: 1, order: 1 } as const;
runSchema.index(NEXT_OF_SESSION, { partialFilterExpression: { open: true } });
runSchema.index({ createdAt: 1 }, { partialFilterExpression: { open: true, stage: "mapping" } });
/** Finds the runs that have ended and are not finalized. */
export const NOT_FINALIZED = { settled: 1 } as const;
runSchema.index(NOT_FINALIZED, { partialFilterExpression: { settled: false } });
runSchema.index({ settled: 1, endedAt: 1 }, { partialFilterExpression: { settled: true } });
runSchema.index({ endedAt: 1 }, { partialFilterExpression: { singleUse: true, forgotten: false } });

/** Finds the runs that use a stored call. */
runSchema.index({ "mapped.item.call": 1 }, { partialFilterExpression: { "mapped.item.call": { $exists: true } } });
/** Counts the waiting runs of a mapping. */
export const WAITING_OF_MAPPING = { status: 1, "mapped.mapping": 1 } as const;
runSchema.index(WAITING_OF_MAPPING, { partialFilterExpression: { status: "queued" } });

/** The ids of runs of mails: version 8 UUIDs that are derived from the ids of the mails. */
export const MAIL_RUN = /^.{14}8/;

export type NewRun = Pick<
  RunDoc,
  "_id" | "kind" | "name" | "sessionKey" | "singleUse" | "mapped" | "request" | "fingerprint"
>;

/** A run that a worker has acquired for an agent turn. */
export type AgentRun = RunDoc & {
  readonly request: AgentRequest;
  readonly claim: StoredLease;
  readonly startedAt: Date;
};

/** The result of a mapping. */
export type MappingOutcome =
  | ({ readonly kind: "agent" } & Pick<AgentRun, "name" | "sessionKey" | "singleUse" | "request">)
  | { readonly kind: "event"; readonly name: string | null }
  | { readonly kind: "dropped" }
  | { readonly kind: "failed"; readonly error: RunError };

/** How a run ended; `kind` becomes its status. */
export type RunOutcome =
  | { readonly kind: "completed"; readonly reply: string }
  | { readonly kind: "failed"; readonly error: RunError; readonly attempts?: number };

/** A run that should be on its queue. If its status is `running`, the lease of its worker has expired. */
export interface DueRun {
  readonly id: string;
  readonly status: "queued" | "running";
  readonly attempts: number;
}

/** Returns the document of an accepted run. */
export const newRunDoc = ({ fingerprint, ...run }: NewRun, createdAt: Date): RunDoc => ({
  ...run,
  ...(fingerprint !== undefined && { fingerprint }),
  stage: run.request ? "turn" : "mapping",
  order: new mongo.Timestamp({ t: 0, i: 0 }), // MongoDB replaces an empty timestamp by its time.
  ...{ status: "queued", open: true, attempts: 0, round: 0, reply: null, error: null },
  ...{ createdAt, startedAt: null, endedAt: null, notBefore: null, claim: null, settled: null, forgotten: false },
});
