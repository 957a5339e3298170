import Type, { type Static } from "typebox";
import { ERRORS, type ErrorCode } from "../../shared/errorCatalogue.ts";
import { ownTrace, type TraceContext } from "../../shared/traceContext.ts";
import { RETURN_EVENTS } from "../../wire/runs/return.ts";
import * as f from "../db/fields.ts";
import { StoredLease } from "../db/lease.ts";
import { NOTED_INDEX, Notes } from "../notes/note.ts";
import { StoredUsage } from "./usage/usage.ts";

/*
 * The states of a run, the values of `status`:
 *
 *                waiting
 *          a person|  ^ a budget asks, before a turn
 *           answers v  |
 *   accepted --> queued ------------------------> completed, dropped    the mapping makes it an event or a report, or drops it
 *                  |  ^ \-----------------------> failed                the mapping fails, or it is cancelled
 *          a worker|  |the worker stops, or the turn fails and another try is left
 *         acquires |  |
 *        the lease v  |
 *                running -----------------------> completed             the turn replies
 *                  |  ^ \-----------------------> failed                the last try fails, or it is cancelled
 *                  +--+ another worker acquires the expired lease
 *
 *   waiting --> failed   it is cancelled
 *
 *   failed --> queued    it is retried by hand, as the next `round`
 *
 * Two fields divide a state. `stage` divides queued: it is `mapping` until the mapping is applied, and only then may a worker
 * acquire the run. `finalized` divides the ends: it is false until the end is finalized (transcript, summary, delivery, next run).
 * Two more follow from the status in the same update: `open` is true in queued, waiting and running, because partial indexes
 * select by it, and `lease` holds the lease in running. A worker decides under its lease that a run waits; `awaits` then names the gate. The updates are in endUpdate.ts and runs.ts; workers/runs/executeRun.ts calls them.
 */
export const RunStatus = Type.Enum(["queued", "waiting", "running", "completed", "failed", "dropped"]);
export type RunStatus = Static<typeof RunStatus>;
/**
 * A run of an agent, `wake` for a mapped hook that became an event of the main session, `return` for a run
 * with the news of jobs that its session started, or `job` for a mapped hook that reported a job.
 */
export const RunKind = Type.Enum(["agent", "wake", "return", "job"]);
export type RunKind = Static<typeof RunKind>;
export const WakeMode = Type.Enum(["now", "next-heartbeat"]);
export type WakeMode = Static<typeof WakeMode>;

/** A validated request to an agent hook, with defaults filled in. */
export const AgentRequest = f.object({
  message: f.string,
  wakeMode: f.oneOf(WakeMode.enum),
  deliver: f.boolean,
  channel: f.string,
  to: f.nullable(f.string),
  model: f.nullable(f.string),
  thinking: f.nullable(f.string),
  timeoutSeconds: f.number,
  /** Whether the run is also shown as a job, under the same id. */
  trackAsJob: f.boolean,
  /** The agent of `agents.list`; missing for that of `agents.defaults`. */
  agentId: f.optional(f.string),
  /** The operator's text before the message. */
  instructions: f.optional(f.string),
  /** Whether the operator trusts the message, so that it becomes the prompt unchanged. */
  allowUnsafe: f.optional(f.boolean),
});
export type AgentRequest = f.Stored<typeof AgentRequest>;

/** A request to a mapped hook. */
export const MappedCall = f.object({
  /** The mapping's key. */
  mapping: f.string,
  /**
   * The call as JSON: headers, url, path, query and payload, without the sender's secrets. Null once the mapping is applied: the
   * document may have no room for both the call and the resulting message.
   */
  call: f.nullable(f.string),
  /** For a request that became several runs (`forEach`): the id of the stored call, and the item of this run as JSON. */
  item: f.optional(f.nullable(f.object({ call: f.string, json: f.string }))),
  /** When a failure of the mapping triggers a turn of the main session. */
  wakeMode: f.oneOf(WakeMode.enum),
  /** The hook context of the sender, if the request was replayed through the mapping of another one. */
  sender: f.optional(f.string),
});
export type MappedCall = f.Stored<typeof MappedCall>;

/**
 * Why a run failed. The first line of the message is Signalbox's own sentence. Further lines are the words of the model
 * server or of an operator's transform, which only readers with the scope runs:read get.
 */
export const RunError = f.object({
  code: f.oneOf(Object.keys(ERRORS) as ErrorCode[]),
  message: f.string,
});
export type RunError = f.Stored<typeof RunError>;

/** Returns an error without the words of others, for a sender, a message or a job. */
export const ownWords = <Code extends string>({ code, message }: { code: Code; message: string }) => ({
  code,
  message: message.split("\n", 1)[0] ?? "",
});

/** A placeholder of the mapping that the request had no value for, and a path of the request that is spelled alike. */
const MissingValue = f.object({ path: f.string, didYouMean: f.nullable(f.string) });

/** The report of an attempt beside its outcome. */
export interface AttemptReport {
  readonly usage?: StoredUsage | undefined;
  /** The end of what the program wrote to standard error. */
  readonly stderr?: string | undefined;
  /** The time of the turn in milliseconds, if budgets count it. */
  readonly ms?: number | undefined;
}

/** A try that failed. */
const FailedTry = f.object({
  attempt: f.number,
  error: RunError,
  /** The end of what the program wrote to standard error; empty if it wrote nothing, missing before. */
  stderr: f.optional(f.string),
  startedAt: f.date,
  endedAt: f.date,
});

/** A transition of a job that wakes the session of a run. */
const Returned = f.object({
  /** The id of the transition's note. */
  id: f.string,
  jobId: f.string,
  event: f.oneOf(RETURN_EVENTS),
});

export const RunDoc = f.object({
  /** The runId, a UUID. */
  _id: f.string,
  kind: f.oneOf(RunKind.enum),
  name: f.nullable(f.string),
  /** The words of the name as the search compares them. */
  nameWords: f.listOf(f.string),
  /** For a mapped run, the key that the mapping gives, until its transform has run. */
  sessionKey: f.string,
  /** Whether the session was created for this run alone. */
  singleUse: f.boolean,
  /** Null for a run that the sender requested directly. */
  mapped: f.nullable(MappedCall),
  /** `mapping` until the mapping is applied, `turn` afterwards. */
  stage: f.oneOf(["mapping", "turn"]),
  /** Null while `stage` is mapping, and for a run that became an event. */
  request: f.nullable(AgentRequest),
  /**
   * MongoDB's time of insertion. A run that is accepted after the response to another has a greater one, whichever processes
   * accepted them.
   */
  order: f.timestamp,
  status: f.oneOf(RunStatus.enum),
  /** Whether it is queued, waiting or running. */
  open: f.boolean,
  attempts: f.number,
  /** How often it was retried by hand. Each round has its own summary and delivery. */
  round: f.number,
  reply: f.nullable(f.string),
  /** The job that a mapped hook reported. */
  jobId: f.optional(f.string),
  /** Set when the end of the reply is missing, because the model reached its length limit. */
  replyCutOff: f.optional(f.boolean),
  /** The placeholders of the mapping that had no value; missing if all had one. */
  missingValues: f.optional(f.listOf(MissingValue)),
  /** The sum of its tries in all rounds; missing until one reports usage. */
  usage: f.optional(StoredUsage),
  /** The time of its counted turns in all rounds, in milliseconds; missing without budgets. */
  turnMs: f.optional(f.number),
  /** The ended attempts that are not in the sums of budgets yet. */
  uncounted: f.optional(f.listOf(f.object({ id: f.string, at: f.date, ms: f.number, usage: f.optional(StoredUsage) }))),
  /** The gate for whose answer the run waits or has waited, and its job. */
  awaits: f.optional(f.object({ gateId: f.string, jobId: f.string })),
  /** The end of what the program of the latest ended attempt wrote to standard error; empty if it wrote nothing, missing before. */
  stderr: f.optional(f.string),
  error: f.nullable(RunError),
  /** The latest failed tries of all rounds, oldest first; missing if none has failed. */
  failedTries: f.optional(f.listOf(FailedTry)),
  /** Why the run was cancelled; missing without a reason. Becomes the reason in the job that shows the run. */
  cancelReason: f.optional(f.string),
  createdAt: f.date,
  startedAt: f.nullable(f.date),
  endedAt: f.nullable(f.date),
  /** The earliest time of the next attempt. */
  notBefore: f.nullable(f.date),
  /** The lease of the worker; null unless the run is running. */
  lease: f.nullable(StoredLease),
  /** False from the run's end until it is finalized; null before its end. */
  finalized: f.nullable(f.boolean),
  /** Whether the transcript of its single-use session has been deleted. */
  forgotten: f.boolean,
  /** Whether the job that shows the run has been created. It is not created again after its deletion. */
  tracked: f.optional(f.boolean),
  /** The kept request that the run was made of; missing if requests are not kept. */
  requestId: f.optional(f.string),
  /** The kept request that was replayed; missing for a run that a sender caused. */
  replayOf: f.optional(f.string),
  /** The ended run whose request this run repeats; missing for other runs. */
  againOf: f.optional(f.string),
  /** The fingerprint of the request that came with the Idempotency-Key from which `_id` is derived. */
  fingerprint: f.optional(f.string),
  /** The `traceparent` of the request that caused it; missing without one, or if traces were off. */
  traceparent: f.optional(f.string),
  /** The depth of the events that follow from it (`notes/depth.ts`); missing for 0. */
  depth: f.optional(f.number),
  /** Only of a return: the transitions that the run is about, each of another job. */
  returnOf: f.optional(f.listOf(Returned)),
  /** Only of a return: transitions up to this time may join the run, as long as it has not started. */
  gathersUntil: f.optional(f.date),
  /** Only of a return: the number of returns in a row, this one included. */
  chain: f.optional(f.number),
  /** The address to which the end of the run is sent; missing if there is none. */
  callbackUrl: f.optional(f.string),
  notes: Notes,
});
export type RunDoc = f.Stored<typeof RunDoc>;

/** Finds the next run of a session, and of every session at once. */
export const NEXT_OF_SESSION = { open: 1, sessionKey: 1, order: 1 } as const;
/** Finds the runs that have ended and are not finalized. */
export const NOT_FINALIZED = { finalized: 1 } as const;
/** Counts the runs of a mapping that have not started. */
export const WAITING_OF_MAPPING = { status: 1, "mapped.mapping": 1 } as const;

export const runSchema = f
  .schemaOf(RunDoc)
  .index({ createdAt: -1, _id: -1 })
  .index({ status: 1, createdAt: -1, _id: -1 })
  .index({ sessionKey: 1, createdAt: -1, _id: -1 })
  .index({ nameWords: 1, createdAt: -1, _id: -1 })
  .index(
    { "mapped.mapping": 1, createdAt: -1, _id: -1 },
    { partialFilterExpression: { "mapped.mapping": { $exists: true } } },
  )
  .index(NEXT_OF_SESSION, { partialFilterExpression: { open: true } })
  .index({ createdAt: 1 }, { partialFilterExpression: { open: true, stage: "mapping" } })
  .index(NOT_FINALIZED, { partialFilterExpression: { finalized: false } })
  .index({ finalized: 1, endedAt: 1 }, { partialFilterExpression: { finalized: true } })
  .index({ endedAt: 1 }, { partialFilterExpression: { singleUse: true, forgotten: false } })
  // Finds the runs that use a stored call.
  .index({ "mapped.item.call": 1 }, { partialFilterExpression: { "mapped.item.call": { $exists: true } } })
  .index(WAITING_OF_MAPPING, { partialFilterExpression: { open: true } })
  .index(NOTED_INDEX.keys, NOTED_INDEX.options);

/** The ids of runs of mails: version 8 UUIDs that are derived from the ids of the mails. */
export const MAIL_RUN = /^.{14}8/;

/** Returns the trace of the present round of a run that no job shows. */
export const runTrace = ({ _id, round, traceparent }: Pick<RunDoc, "_id" | "round" | "traceparent">): TraceContext =>
  ownTrace(["run", _id, round], traceparent);

/** A run that a worker has acquired for an agent turn. */
export type AgentRun = RunDoc & {
  readonly request: AgentRequest;
  readonly lease: StoredLease;
  readonly startedAt: Date;
  /** Whether no worker has acquired it before, in any round. */
  readonly isFirstStart: boolean;
};

/** The result of a mapping. */
export type MappingOutcome =
  | ({ readonly kind: "agent" } & Pick<AgentRun, "name" | "sessionKey" | "singleUse" | "request" | "missingValues">)
  | ({ readonly kind: "event" } & Pick<RunDoc, "name" | "missingValues">)
  | ({ readonly kind: "job" } & Pick<RunDoc, "jobId" | "missingValues">)
  | { readonly kind: "dropped" }
  | { readonly kind: "failed"; readonly error: RunError };

/** How a run ended; `kind` becomes its status. */
export type RunOutcome =
  | { readonly kind: "completed"; readonly reply: string; readonly replyCutOff?: boolean }
  | {
      readonly kind: "failed";
      readonly error: RunError;
      readonly attempts?: number;
      readonly cancelReason?: string;
      readonly reply?: string | null;
    };

/** A run that should be on its queue. If its status is `running`, the lease of its worker has expired. */
export interface DueRun {
  readonly id: string;
  readonly status: "queued" | "running";
  readonly attempts: number;
}
