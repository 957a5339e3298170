import { ownTrace, type TraceContext, traceparentOf } from "../../shared/traceContext.ts";
import type { JobChange, JobView, Usual } from "../../wire/job.ts";
import { RETURN_EVENTS } from "../../wire/runs/return.ts";
import * as f from "../db/fields.ts";
import { NOTED_INDEX, Notes } from "../notes/note.ts";
import { ReturnTo } from "../notes/returnTo.ts";
import type { FreeObject } from "./freeObject.ts";
import { Silence } from "./jobNotes.ts";
import { Links, viewLinks } from "./link.ts";
import type { PayloadField } from "./payloads/payloadFields.ts";
import { Payload } from "./payloads/payloads.ts";
import { expectedEndAt } from "./runTime.ts";
import { SearchTerm } from "./search/searchKeys.ts";
import { StepDoc } from "./step.ts";

/** The status of a job or a step. */
export type Status = StepDoc["status"];

/** A request to cancel a job. The worker decides what to do about it, unless the request is forced. */
const CancelRequest = f.object({
  requestedAt: f.date,
  reason: f.nullable(f.string),
});

/** A transition that has woken a session. */
const Return = f.object({
  /** The id of the transition's note. */
  id: f.string,
  event: f.oneOf(RETURN_EVENTS),
  /** Null if the session no longer existed. */
  runId: f.nullable(f.string),
  at: f.date,
});

export const JobDoc = f.object({
  /** The internal id. A job that is created again under the same jobId has another one. */
  _id: f.objectId,
  jobId: f.string,
  name: f.nullable(f.string),
  /** The name as the search by prefix compares it, and then as it is: see `storedNameKey`. */
  nameKey: f.nullable(f.string),
  /** The words of the name as the search by words compares them. */
  nameWords: f.listOf(f.string),
  description: f.nullable(f.string),
  input: f.nullable(Payload),
  metadata: f.nullable(Payload),
  /** The values in `metadata` that jobs can be searched by. */
  metadataTerms: f.listOf(SearchTerm),
  status: StepDoc.fields.status,
  progress: f.number,
  message: f.nullable(f.string),
  output: f.nullable(Payload),
  createdAt: f.date,
  updatedAt: f.date,
  /** `updatedAt` truncated to the minute, for the index: see jobTimes.ts. */
  updatedMinute: f.date,
  endedAt: f.nullable(f.date),
  /** When it was last started again after its end; missing before. */
  startedAt: f.optional(f.date),
  /** The `traceparent` of the request that created it; missing without one, or if traces were off. */
  traceparent: f.optional(f.string),
  lastReportAt: f.nullable(f.date),
  /** Seconds without a report after which the job is stale; null for the configured default. */
  staleAfterSeconds: f.nullable(f.number),
  /** The time from which a running job is stale; null once it has ended. */
  staleAt: f.nullable(f.date),
  /** `staleAt` truncated to the minute, for the index; the epoch once the job has been announced as stale. */
  staleMinute: f.nullable(f.date),
  /** The open gates, oldest first; missing before the first one. The gates themselves have a collection of their own. */
  openGates: f.optional(f.listOf(f.object({ gateId: f.string, key: f.string }))),
  /** When the newest closed gate closed. The job is stale that much later. Missing before. */
  resumedAt: f.optional(f.date),
  /** When the first of the open gates was opened; missing while none is open. */
  waitingSince: f.optional(f.date),
  /** How long the job has waited for gates that are closed, since it was started; missing before the first one. */
  waitedMs: f.optional(f.number),
  /** When a scan looks at the running job, because it may be slow then; missing if it never is. */
  slowAt: f.optional(f.date),
  /** The rules that have announced the job as slow since it was started; missing before the first one. */
  slowRules: f.optional(f.listOf(f.string)),
  links: Links,
  /** The words of the message of a failed job, for the search; missing for other jobs. */
  failedWords: f.optional(f.listOf(f.string)),
  /** The jobId of the job that this one is a part of. */
  parentJobId: f.nullable(f.string),
  /** Set once another job has named this one as its parent; missing before. */
  isParent: f.optional(f.boolean),
  /** The number of its steps by status. */
  stepCounts: f.object({ running: f.number, completed: f.number, failed: f.number }),
  /** A copy of the running step with the newest report; null while no step is running. */
  current: f.nullable(StepDoc),
  /** The number of updates by reports on the job's steps. Orders these updates. */
  seq: f.number,
  /** Missing unless cancellation was requested since the job was created or started again. */
  cancel: f.optional(CancelRequest),
  /** The report or other update that brought the job to its final status; missing while it is running. */
  endedBy: f.optional(f.objectId),
  /** Stored payloads that the newest report with an output replaced. */
  replaced: f.optional(f.listOf(f.objectId)),
  /** The address to which the end of the job is sent; missing if there is none. */
  callbackUrl: f.optional(f.string),
  /** The greatest orders of the events that have set the status and the message (order.ts); missing without such events. */
  order: f.optional(f.number),
  messageOrder: f.optional(f.number),
  /** For a job that pings of a receiver began: what its id begins with, up to the slug. */
  pinged: f.optional(f.string),
  /** The time until which only one ping may end the job; missing before the first one tries. */
  endLease: f.optional(f.date),
  /** The session that the job wakes; missing if it wakes none. */
  returnTo: f.optional(ReturnTo),
  /** The latest transitions that have woken a session, oldest first; missing before the first one. */
  returns: f.optional(f.listOf(Return)),
  /** How often the links that show the job were revoked; missing before the first time. */
  shareEpoch: f.optional(f.number),
  /** The id of the job that the first `?new=1` after this one's end began; missing before. */
  nextRunId: f.optional(f.string),
  /** Missing unless the job was announced as stale, and not reported since. */
  silence: f.optional(Silence),
  notes: Notes,
  /** The steps under the `stepField` of their keys, in the order of creation; missing while there are none. */
  steps: f.optional(f.free<Record<string, StepDoc>>()),
});
export type JobDoc = f.Stored<typeof JobDoc>;
/** A job without its steps, which may take megabytes. */
export type JobHead = Omit<JobDoc, "steps">;

/** The projection that leaves out steps and the fields that only reports use. */
export const WITHOUT_STEPS = {
  steps: 0,
  replaced: 0,
  order: 0,
  messageOrder: 0,
  pinged: 0,
  endLease: 0,
  endedBy: 0,
  updatedMinute: 0,
  staleMinute: 0,
  slowAt: 0,
  slowRules: 0,
  silence: 0,
  notes: 0,
  callbackUrl: 0,
  nextRunId: 0,
  "current.failedAttempts": 0,
} as const;

/** The index that counts children. */
export const CHILD_INDEX = { parentJobId: 1, status: 1 } as const;
/** The index that finds the failed jobs of a name, apart from the cancelled ones. */
export const FAILED_INDEX = { nameKey: 1, "cancel.requestedAt": 1, createdAt: -1 } as const;

export const jobSchema = f
  .schemaOf(JobDoc)
  .index({ jobId: 1 }, { unique: true })
  .index({ createdAt: -1, _id: -1 })
  .index({ status: 1, createdAt: -1, _id: -1 })
  .index({ nameKey: 1, createdAt: -1, _id: -1 })
  .index(FAILED_INDEX, { partialFilterExpression: { status: "failed" } })
  .index({ nameWords: 1, createdAt: -1, _id: -1 })
  .index({ failedWords: 1, createdAt: -1, _id: -1 }, { sparse: true })
  .index({ metadataTerms: 1, createdAt: -1, _id: -1 })
  // The children of a job in the order of lists, and the jobs without a parent.
  .index({ parentJobId: 1, createdAt: -1, _id: -1 })
  // Counts the children of a job.
  .index(CHILD_INDEX, { partialFilterExpression: { parentJobId: { $type: "string" } } })
  .index({ updatedMinute: -1 })
  .index({ status: 1, endedAt: 1 })
  .index({ staleMinute: 1 }, { partialFilterExpression: { status: "running" } })
  .index({ slowAt: 1 }, { partialFilterExpression: { status: "running", slowAt: { $exists: true } } })
  // Contains only jobs whose cancellation was requested, in the order of lists.
  .index(
    { createdAt: -1, _id: -1, "cancel.requestedAt": 1 },
    { partialFilterExpression: { "cancel.requestedAt": { $exists: true } } },
  )
  // Finds the newest run of a ping's slug.
  .index({ pinged: 1, status: 1, createdAt: -1 }, { partialFilterExpression: { pinged: { $exists: true } } })
  .index({ "openGates.gateId": 1 }, { partialFilterExpression: { "openGates.gateId": { $exists: true } } })
  // Finds the stale jobs that wake a session, where no rule is about stale jobs.
  .index({ "returnTo.on": 1, staleMinute: 1 }, { partialFilterExpression: { "returnTo.on": { $exists: true } } })
  .index({ "returnTo.sessionKey": 1 }, { partialFilterExpression: { "returnTo.sessionKey": { $exists: true } } })
  .index(NOTED_INDEX.keys, NOTED_INDEX.options);

/** A change of a job that a receiver makes of an event. */
export interface ReceivedChange extends Omit<JobChange, "returnTo"> {
  /** The session that the job wakes, as it is stored. */
  readonly returnTo?: ReturnTo | null;
  /** The place of the event among those of the job: see order.ts. Without it the change takes effect as it arrives. */
  readonly order?: number | undefined;
  /** For the beginning of a job by a ping. */
  readonly pinged?: string;
  /** Whether the sender reports little between the beginning and the end, so that silence means nothing for a day. */
  readonly isQuiet?: true;
  /** The valid `traceparent` of the request, which counts if it creates the job. */
  readonly traceparent?: string | undefined;
  /** When the sender aborted the job, which the change fails: it counts as cancelled. */
  readonly abortedAt?: Date | undefined;
}

/**
 * Returns a job as clients read it, without its current step and its children.
 * @param free its free objects
 * @param usual the usual duration of jobs of its name
 * @param traces whether traces are sent
 */
export function viewJob(
  job: JobHead,
  free: Record<PayloadField, FreeObject | null>,
  usual: Usual | null,
  { now, traces }: { readonly now: Date; readonly traces: boolean },
): Omit<JobView, "currentStep" | "children"> {
  return {
    jobId: job.jobId,
    name: job.name,
    description: job.description,
    input: free.input,
    metadata: free.metadata,
    status: job.status,
    progress: job.progress,
    message: job.message,
    output: free.output,
    createdAt: job.createdAt.toISOString(),
    updatedAt: job.updatedAt.toISOString(),
    lastReportAt: job.lastReportAt?.toISOString() ?? null,
    stale: job.staleAt !== null && job.staleAt <= now,
    staleAt: job.staleAt?.toISOString() ?? null,
    staleAfterSeconds: job.staleAfterSeconds,
    usual,
    expectedEndAt: expectedEndAt(job, usual)?.toISOString() ?? null,
    cancel: job.cancel ? { ...job.cancel, requestedAt: job.cancel.requestedAt.toISOString() } : null,
    waitingFor: job.status === "running" ? (job.openGates ?? []).map(({ key }) => key) : [],
    stepCounts: job.stepCounts,
    links: viewLinks(job.links),
    traceparent: traces ? traceparentOf(jobTrace(job)) : null,
    parentJobId: job.parentJobId,
    returnTo: job.returnTo ? viewReturnTo(job.returnTo) : null,
    returns: (job.returns ?? []).map(({ event, runId, at }) => ({ event, runId, at: at.toISOString() })),
  };
}

/** Returns the trace of the run that a job is in. */
export const jobTrace = ({
  jobId,
  _id,
  createdAt,
  startedAt = createdAt,
  traceparent,
}: Pick<JobDoc, "jobId" | "_id" | "createdAt" | "startedAt" | "traceparent">): TraceContext =>
  ownTrace(["job", jobId, _id.toHexString(), startedAt.getTime()], traceparent);

const viewReturnTo = ({ sessionKey, on, deliver, channel, to }: ReturnTo): NonNullable<JobView["returnTo"]> => ({
  sessionKey,
  on,
  deliver,
  channel,
  to,
});
