import { mongo } from "mongoose";
import Type, { type Static } from "typebox";
import { ERRORS, type ErrorCode } from "../../shared/errorCatalogue.ts";
import { BsonDate, BsonTimestamp, closedObject, defineCollection, nullable } from "../db/collection.ts";
import { StoredLease } from "../db/lease.ts";
import { nameWords } from "../db/nameSearch.ts";
import { depthField } from "../notifications/depth.ts";
import { NOTED_INDEX, Notes } from "../notifications/note.ts";
import { StoredUsage } from "./usage.ts";

export const RunStatus = Type.Enum(["queued", "running", "completed", "failed", "dropped"]);
export type RunStatus = Static<typeof RunStatus>;
/** A run of an agent, or `wake` for a mapped hook that became an event of the main session. */
export const RunKind = Type.Enum(["agent", "wake"]);
export type RunKind = Static<typeof RunKind>;
export const WakeMode = Type.Enum(["now", "next-heartbeat"]);
export type WakeMode = Static<typeof WakeMode>;

/** A validated request to an agent hook, with defaults filled in. */
export const AgentRequest = closedObject({
  message: Type.String(),
  wakeMode: WakeMode,
  deliver: Type.Boolean(),
  channel: Type.String(),
  to: nullable(Type.String()),
  model: nullable(Type.String()),
  thinking: nullable(Type.String()),
  timeoutSeconds: Type.Number(),
  /** Whether the run is also shown as a job, under the same id. */
  trackAsJob: Type.Boolean(),
  /** The operator's text before the message. */
  instructions: Type.Optional(Type.String()),
  /** Whether the operator trusts the message, so that it becomes the prompt unchanged. */
  allowUnsafe: Type.Optional(Type.Boolean()),
});
export type AgentRequest = Static<typeof AgentRequest>;

/** A request to a mapped hook. */
export const MappedCall = closedObject({
  /** The mapping's key. */
  mapping: Type.String(),
  /**
   * The call as JSON: headers, url, path, query and payload, without the sender's secrets. Null once the mapping is applied: the
   * document may have no room for both the call and the resulting message.
   */
  call: nullable(Type.String()),
  /** For a request that became several runs (`forEach`): the id of the stored call, and the item of this run as JSON. */
  item: Type.Optional(nullable(closedObject({ call: Type.String(), json: Type.String() }))),
  /** When a failure of the mapping triggers a turn of the main session. */
  wakeMode: WakeMode,
  /** The hook context of the sender, if the request was replayed through the mapping of another one. */
  sender: Type.Optional(Type.String()),
});
export type MappedCall = Static<typeof MappedCall>;

/**
 * Why a run failed. The first line of the message is Signalbox's own sentence. Further lines are the words of the model
 * server or of an operator's transform, which only readers with the scope runs:read get.
 */
export const RunError = closedObject({
  code: Type.Enum(Object.keys(ERRORS) as ErrorCode[]),
  message: Type.String(),
});
export type RunError = Static<typeof RunError>;

/** Returns an error without the words of others, for a sender, a message or a job. */
export const ownWords = ({ code, message }: RunError): RunError => ({ code, message: message.split("\n", 1)[0] ?? "" });

/** A placeholder of the mapping that the request had no value for, and a path of the request that is spelled alike. */
const MissingValue = closedObject({ path: Type.String(), didYouMean: nullable(Type.String()) });

/** What an attempt reported beside its outcome. */
export interface AttemptReport {
  readonly usage?: StoredUsage | undefined;
  /** The end of what the program wrote to standard error. */
  readonly stderr?: string | undefined;
}

/** A try that failed. */
const FailedTry = closedObject({
  attempt: Type.Number(),
  error: RunError,
  /** The end of what the program wrote to standard error; missing if it wrote nothing. */
  stderr: Type.Optional(Type.String()),
  startedAt: BsonDate,
  endedAt: BsonDate,
});

export const RunDoc = closedObject({
  /** The runId, a UUID. */
  _id: Type.String(),
  kind: RunKind,
  name: nullable(Type.String()),
  /** The words of the name as the search compares them. */
  nameWords: Type.Array(Type.String()),
  /** For a mapped run, the key that the mapping gives, until its transform has run. */
  sessionKey: Type.String(),
  /** Whether the session was created for this run alone. */
  singleUse: Type.Boolean(),
  /** Null for a run that the sender requested directly. */
  mapped: nullable(MappedCall),
  /** `mapping` until the mapping is applied, `turn` afterwards. */
  stage: Type.Enum(["mapping", "turn"]),
  /** Null while `stage` is mapping, and for a run that became an event. */
  request: nullable(AgentRequest),
  /**
   * MongoDB's time of insertion. A run that is accepted after the response to another has a greater one, whichever processes
   * accepted them.
   */
  order: BsonTimestamp,
  status: RunStatus,
  /** Whether it is queued or running. */
  open: Type.Boolean(),
  attempts: Type.Number(),
  /** How often it was retried by hand. Each round has its own summary and delivery. */
  round: Type.Number(),
  reply: nullable(Type.String()),
  /** Set when the end of the reply is missing, because the model reached its length limit. */
  replyCutOff: Type.Optional(Type.Boolean()),
  /** The placeholders of the mapping that had no value; missing if all had one. */
  missingValues: Type.Optional(Type.Array(MissingValue)),
  /** The sum of its tries in all rounds; missing until one reports usage. */
  usage: Type.Optional(StoredUsage),
  /** The end of what the program of the latest ended attempt wrote to standard error; missing if it wrote nothing. */
  stderr: Type.Optional(Type.String()),
  error: nullable(RunError),
  /** The latest failed tries of all rounds, oldest first; missing if none has failed. */
  failedTries: Type.Optional(Type.Array(FailedTry)),
  /** Why the run was cancelled; missing without a reason. Becomes the reason in the job that shows the run. */
  cancelReason: Type.Optional(Type.String()),
  createdAt: BsonDate,
  startedAt: nullable(BsonDate),
  endedAt: nullable(BsonDate),
  /** The earliest time of the next attempt. */
  notBefore: nullable(BsonDate),
  /** The lease of the worker; null unless the run is running. */
  claim: nullable(StoredLease),
  /** False from the run's end until it is finalized; null before its end. */
  settled: nullable(Type.Boolean()),
  /** Whether the transcript of its single-use session has been deleted. */
  forgotten: Type.Boolean(),
  /** Whether the job that shows the run has been created. It is not created again after its deletion. */
  tracked: Type.Optional(Type.Boolean()),
  /** The kept request that the run was made of; missing if requests are not kept. */
  requestId: Type.Optional(Type.String()),
  /** The kept request that was replayed; missing for a run that a sender caused. */
  replayOf: Type.Optional(Type.String()),
  /** The ended run whose request this run repeats; missing for other runs. */
  againOf: Type.Optional(Type.String()),
  /** The fingerprint of the request that came with the Idempotency-Key from which `_id` is derived. */
  fingerprint: Type.Optional(Type.String()),
  /** The depth of the events that follow from it (`notifications/depth.ts`); missing for 0. */
  depth: Type.Optional(Type.Number()),
  /** The address to which the end of the run is sent; missing if there is none. */
  callbackUrl: Type.Optional(Type.String()),
  notes: Notes,
});
export type RunDoc = Static<typeof RunDoc>;

/** Finds the next run of a session, and of every session at once. */
export const NEXT_OF_SESSION = { open: 1, sessionKey: 1, order: 1 } as const;
/** Finds the runs that have ended and are not finalized. */
export const NOT_FINALIZED = { settled: 1 } as const;
/** Counts the waiting runs of a mapping. */
export const WAITING_OF_MAPPING = { status: 1, "mapped.mapping": 1 } as const;

export const runCollection = defineCollection(RunDoc, [
  { keys: { createdAt: -1, _id: -1 } },
  { keys: { status: 1, createdAt: -1, _id: -1 } },
  { keys: { sessionKey: 1, createdAt: -1, _id: -1 } },
  { keys: { nameWords: 1, createdAt: -1, _id: -1 } },
  {
    keys: { "mapped.mapping": 1, createdAt: -1, _id: -1 },
    partialFilterExpression: { "mapped.mapping": { $exists: true } },
  },
  { keys: NEXT_OF_SESSION, partialFilterExpression: { open: true } },
  { keys: { createdAt: 1 }, partialFilterExpression: { open: true, stage: "mapping" } },
  { keys: NOT_FINALIZED, partialFilterExpression: { settled: false } },
  { keys: { settled: 1, endedAt: 1 }, partialFilterExpression: { settled: true } },
  { keys: { endedAt: 1 }, partialFilterExpression: { singleUse: true, forgotten: false } },
  // Finds the runs that use a stored call.
  { keys: { "mapped.item.call": 1 }, partialFilterExpression: { "mapped.item.call": { $exists: true } } },
  { keys: WAITING_OF_MAPPING, partialFilterExpression: { status: "queued" } },
  NOTED_INDEX,
]);
/** The ids of runs of mails: version 8 UUIDs that are derived from the ids of the mails. */
export const MAIL_RUN = /^.{14}8/;

export type NewRun = Pick<RunDoc, "_id" | "kind" | "name" | "sessionKey" | "singleUse" | "mapped" | "request"> & {
  readonly requestId?: string;
  readonly replayOf?: string;
  readonly againOf?: string;
  readonly fingerprint?: string | undefined;
  readonly callbackUrl?: string | undefined;
  readonly depth?: number | undefined;
};

/** A run that a worker has acquired for an agent turn. */
export type AgentRun = RunDoc & {
  readonly request: AgentRequest;
  readonly claim: StoredLease;
  readonly startedAt: Date;
};

/** The result of a mapping. */
export type MappingOutcome =
  | ({ readonly kind: "agent" } & Pick<AgentRun, "name" | "sessionKey" | "singleUse" | "request" | "missingValues">)
  | ({ readonly kind: "event" } & Pick<RunDoc, "name" | "missingValues">)
  | { readonly kind: "dropped" }
  | { readonly kind: "failed"; readonly error: RunError };

/** How a run ended; `kind` becomes its status. */
export type RunOutcome =
  | { readonly kind: "completed"; readonly reply: string; readonly replyCutOff?: boolean }
  | { readonly kind: "failed"; readonly error: RunError; readonly attempts?: number; readonly cancelReason?: string };

/** A run that should be on its queue. If its status is `running`, the lease of its worker has expired. */
export interface DueRun {
  readonly id: string;
  readonly status: "queued" | "running";
  readonly attempts: number;
}

/** Returns the document of an accepted run. */
export const newRunDoc = ({ fingerprint, callbackUrl, depth, ...run }: NewRun, createdAt: Date): RunDoc => ({
  ...run,
  nameWords: nameWords(run.name ?? ""),
  ...(fingerprint !== undefined && { fingerprint }),
  ...(callbackUrl !== undefined && { callbackUrl }),
  ...depthField(depth),
  stage: run.request ? "turn" : "mapping",
  order: new mongo.Timestamp({ t: 0, i: 0 }), // MongoDB replaces an empty timestamp by its time.
  status: "queued",
  open: true,
  attempts: 0,
  round: 0,
  reply: null,
  error: null,
  createdAt,
  startedAt: null,
  endedAt: null,
  notBefore: null,
  claim: null,
  settled: null,
  forgotten: false,
});
