import { mongo, Schema } from "mongoose";
import type { ErrorCode } from "../../shared/errors.ts";
import type { StoredLease } from "../db/lease.ts";

export type RunStatus = "queued" | "running" | "completed" | "failed" | "dropped";
/** `wake`: an event of the main session. */
export type RunKind = "agent" | "wake";
export type WakeMode = "now" | "next-heartbeat";

/** What the sender of an agent hook asked for, checked and with its defaults filled in. */
export interface AgentRequest {
  readonly message: string;
  readonly wakeMode: WakeMode;
  readonly deliver: boolean;
  readonly channel: string;
  readonly to: string | null;
  readonly model: string | null;
  readonly thinking: string | null;
  readonly timeoutSeconds: number;
  /** The run is also a job of the tracker, under the same id. */
  readonly trackAsJob: boolean;
  /** The operator's own words before the message. */
  readonly instructions?: string | undefined;
  /** The operator vouches for the message: it is the prompt as it is. */
  readonly allowUnsafe?: boolean | undefined;
}

/** What a mapped hook was sent. */
export interface MappedCall {
  /** The mapping's key. */
  readonly mapping: string;
  /**
   * The call as JSON: headers, url, path, query and payload, without the sender's secrets. Null once the mapping has made
   * something of it: beside the message that it became there may be no room for it in a document.
   */
  readonly call: string | null;
  /** With `forEach`, of a request that became several runs: where that is stored, and the item of this run as JSON. */
  readonly item?: { readonly call: string; readonly json: string } | null;
  /** When the main session is to hear of it, should the mapping fail. */
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
  /** Of a mapped run it is what the mapping alone says, until its transform has been asked. */
  sessionKey: string;
  /** The session key was made for this run alone. */
  singleUse: boolean;
  /** Null where the sender asked for the run itself. */
  mapped: MappedCall | null;
  /** Whether the mapping is still to be applied, or the run waits for its turn, or is past that. */
  stage: "mapping" | "turn";
  /** Null while `stage` is mapping, and for a run that became an event. */
  request: AgentRequest | null;
  /** When MongoDB took it: a run accepted after another was answered has the greater one, whichever process took it. */
  order: mongo.Timestamp;
  status: RunStatus;
  /** Queued or running. */
  open: boolean;
  attempts: number;
  /** How often it was begun anew by hand; each round has a summary and a delivery of its own. */
  round: number;
  reply: string | null;
  error: RunError | null;
  createdAt: Date;
  startedAt: Date | null;
  endedAt: Date | null;
  /** Not tried again before this time. */
  notBefore: Date | null;
  /** Null unless it is running. */
  claim: StoredLease | null;
  /** False from the run's end until it is finalized; null before its end. */
  settled: boolean | null;
  /** Whether the transcript of its single-use session has been deleted. */
  forgotten: boolean;
  /** The job that shows the run in the tracker has been created. Whoever deletes that job keeps it deleted. */
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
/** Leads to the run of a session whose turn it is, and of every session at once. */
export const NEXT_OF_SESSION = { open: 1, sessionKey: 1, order: 1 } as const;
runSchema.index(NEXT_OF_SESSION, { partialFilterExpression: { open: true } });
runSchema.index({ createdAt: 1 }, { partialFilterExpression: { open: true, stage: "mapping" } });
/** Finds the runs that have ended and are not finalized. */
export const NOT_FINALIZED = { settled: 1 } as const;
runSchema.index(NOT_FINALIZED, { partialFilterExpression: { settled: false } });
runSchema.index({ settled: 1, endedAt: 1 }, { partialFilterExpression: { settled: true } });
runSchema.index({ endedAt: 1 }, { partialFilterExpression: { singleUse: true, forgotten: false } });

/** Leads to the runs that need a request which is stored once for all of them. */
runSchema.index({ "mapped.item.call": 1 }, { partialFilterExpression: { "mapped.item.call": { $exists: true } } });
/** Counts the runs of a mapping that wait. */
export const WAITING_OF_MAPPING = { status: 1, "mapped.mapping": 1 } as const;
runSchema.index(WAITING_OF_MAPPING, { partialFilterExpression: { status: "queued" } });

/** The id of a run that a mail became is made of the mail's: a UUID of version 8. */
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

/** What a mapping made of a run. */
export type MappingOutcome =
  | ({ readonly kind: "agent" } & Pick<AgentRun, "name" | "sessionKey" | "singleUse" | "request">)
  | { readonly kind: "event"; readonly name: string | null }
  | { readonly kind: "dropped" }
  | { readonly kind: "failed"; readonly error: RunError };

/** How a turn ended. */
export type RunEnd =
  | { readonly status: "completed"; readonly reply: string }
  | { readonly status: "failed"; readonly error: RunError; readonly attempts?: number };

/** A run that should be on its queue. `running`: the lease of its worker has expired. */
export interface DueRun {
  readonly id: string;
  readonly status: "queued" | "running";
  readonly attempts: number;
}

/** A run as it is written down first. */
export const newRunDoc = ({ fingerprint, ...run }: NewRun, createdAt: Date): RunDoc => ({
  ...run,
  ...(fingerprint !== undefined && { fingerprint }),
  stage: run.request ? "turn" : "mapping",
  order: new mongo.Timestamp({ t: 0, i: 0 }), // MongoDB puts its own time into an empty one
  ...{ status: "queued", open: true, attempts: 0, round: 0, reply: null, error: null },
  ...{ createdAt, startedAt: null, endedAt: null, notBefore: null, claim: null, settled: null, forgotten: false },
});
