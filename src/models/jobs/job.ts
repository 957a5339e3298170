import {
  date,
  free,
  listOf,
  nullable,
  number,
  object,
  objectId,
  optional,
  type Stored,
  schemaOf,
  string,
} from "../db/fields.ts";
import { NOTED_INDEX, Notes } from "../notes/note.ts";
import type { FreeObject } from "./freeObject.ts";
import { Silence } from "./jobNotes.ts";
import { Payload } from "./payloads.ts";
import { SearchTerm } from "./search/searchKeys.ts";
import { StepDoc } from "./step.ts";

/** The status of a job or a step. */
export type Status = StepDoc["status"];

/** A request to cancel a job. The worker decides what to do about it, unless the request is forced. */
const CancelRequest = object({
  requestedAt: date,
  reason: nullable(string),
});

export const JobDoc = object({
  /** The internal id. A job that is created again under the same jobId has another one. */
  _id: objectId,
  jobId: string,
  name: nullable(string),
  /** The name as the search by prefix compares it. */
  nameKey: nullable(string),
  /** The words of the name as the search by words compares them. */
  nameWords: listOf(string),
  description: nullable(string),
  input: nullable(Payload),
  metadata: nullable(Payload),
  /** The values in `metadata` that jobs can be searched by. */
  metadataTerms: listOf(SearchTerm),
  status: StepDoc.fields.status,
  progress: number,
  message: nullable(string),
  output: nullable(Payload),
  createdAt: date,
  updatedAt: date,
  /** `updatedAt` truncated to the minute, for the index: see jobTimes.ts. */
  updatedMinute: date,
  endedAt: nullable(date),
  lastReportAt: nullable(date),
  /** Seconds without a report after which the job is stale; null for the configured default. */
  staleAfterSeconds: nullable(number),
  /** The time from which a running job is stale; null once it has ended. */
  staleAt: nullable(date),
  /** `staleAt` truncated to the minute, for the index; the epoch once the job has been announced as stale. */
  staleMinute: nullable(date),
  /** The open gates, oldest first; missing before the first one. The gates themselves have a collection of their own. */
  openGates: optional(listOf(object({ gateId: string, key: string }))),
  /** When the newest closed gate closed. The job is stale that much later. Missing before. */
  resumedAt: optional(date),
  /** A copy of the running step with the newest report; null while no step is running. */
  current: nullable(StepDoc),
  /** The number of reports on the job's steps. Orders these reports. */
  seq: number,
  /** Missing unless cancellation was requested since the job was created or started again. */
  cancel: optional(CancelRequest),
  /** The report or other update that brought the job to its final status; missing while it is running. */
  endedBy: optional(objectId),
  /** Stored payloads that the newest report with an output replaced. */
  replaced: optional(listOf(objectId)),
  /** The address to which the end of the job is sent; missing if there is none. */
  callbackUrl: optional(string),
  /** The greatest orders of the events that have set the status and the message (order.ts); missing without such events. */
  order: optional(number),
  messageOrder: optional(number),
  /** For a job that pings of a receiver began: what its id begins with, up to the slug. */
  pinged: optional(string),
  /** The id of the job that the first `?new=1` after this one's end began; missing before. */
  nextRunId: optional(string),
  /** How often the links that show the job were revoked; missing before the first time. */
  shareEpoch: optional(number),
  /** Missing unless the job was announced as stale, and not reported since. */
  silence: optional(Silence),
  notes: Notes,
  /** The steps under the `stepField` of their keys, in the order of creation; missing while there are none. */
  steps: optional(free<Record<string, StepDoc>>()),
});
export type JobDoc = Stored<typeof JobDoc>;

export const jobSchema = schemaOf(JobDoc)
  .index({ jobId: 1 }, { unique: true })
  .index({ createdAt: -1, _id: -1 })
  .index({ status: 1, createdAt: -1, _id: -1 })
  .index({ nameKey: 1, createdAt: -1, _id: -1 })
  .index({ nameWords: 1, createdAt: -1, _id: -1 })
  .index({ metadataTerms: 1, createdAt: -1, _id: -1 })
  .index({ updatedMinute: -1 })
  .index({ status: 1, endedAt: 1 })
  .index({ staleMinute: 1 }, { partialFilterExpression: { status: "running" } })
  // Contains only jobs whose cancellation was requested, in the order of lists.
  .index(
    { createdAt: -1, _id: -1, "cancel.requestedAt": 1 },
    { partialFilterExpression: { "cancel.requestedAt": { $exists: true } } },
  )
  // Finds the newest run of a ping's slug.
  .index({ pinged: 1, status: 1, createdAt: -1 }, { partialFilterExpression: { pinged: { $exists: true } } })
  .index({ "openGates.gateId": 1 }, { partialFilterExpression: { "openGates.gateId": { $exists: true } } })
  .index(NOTED_INDEX.keys, NOTED_INDEX.options);

/** The fields that PUT /api/jobs/:jobId sets. A missing field stays unchanged, and null clears a field. */
export interface JobChange {
  readonly name?: string | null;
  readonly description?: string | null;
  readonly input?: FreeObject | null;
  readonly metadata?: FreeObject | null;
  readonly staleAfterSeconds?: number | null;
  readonly status?: Status;
  readonly progress?: number;
  readonly message?: string | null;
  readonly output?: FreeObject | null;
  readonly callbackUrl?: string | null;
}

/** A change of a job that a receiver makes of an event. */
export interface ReceivedChange extends JobChange {
  /** The place of the event among those of the job: see order.ts. Without it the change takes effect as it arrives. */
  readonly order?: number | undefined;
  /** For the beginning of a job by a ping. */
  readonly pinged?: string;
}
