import Type, { type Static } from "typebox";
import { BsonDate, BsonObjectId, closedObject, defineCollection, nullable } from "../db/collection.ts";
import { NOTED_INDEX, Notes } from "../notifications/note.ts";
import type { FreeObject } from "./freeObject.ts";
import { Silence } from "./jobNotes.ts";
import { Payload } from "./payloads.ts";
import { SearchTerm } from "./search/searchKeys.ts";
import { StepDoc } from "./step.ts";

/** The status of a job or a step. */
export type Status = StepDoc["status"];

/** A request to cancel a job. The worker decides what to do about it, unless the request is forced. */
const CancelRequest = closedObject({
  requestedAt: BsonDate,
  reason: nullable(Type.String()),
});

export const JobDoc = closedObject({
  /** The internal id. A job that is created again under the same jobId has another one. */
  _id: BsonObjectId,
  jobId: Type.String(),
  name: nullable(Type.String()),
  /** The name as the search by prefix compares it. */
  nameKey: nullable(Type.String()),
  /** The words of the name as the search by words compares them. */
  nameWords: Type.Array(Type.String()),
  description: nullable(Type.String()),
  input: nullable(Payload),
  metadata: nullable(Payload),
  /** The values in `metadata` that jobs can be searched by. */
  metadataTerms: Type.Array(SearchTerm),
  status: StepDoc.properties.status,
  progress: Type.Number(),
  message: nullable(Type.String()),
  output: nullable(Payload),
  createdAt: BsonDate,
  updatedAt: BsonDate,
  /** `updatedAt` truncated to the minute, for the index: see jobTimes.ts. */
  updatedMinute: BsonDate,
  endedAt: nullable(BsonDate),
  lastReportAt: nullable(BsonDate),
  /** Seconds without a report after which the job is stale; null for the configured default. */
  staleAfterSeconds: nullable(Type.Number()),
  /** The time from which a running job is stale; null once it has ended. */
  staleAt: nullable(BsonDate),
  /** `staleAt` truncated to the minute, for the index; the epoch once the job has been announced as stale. */
  staleMinute: nullable(BsonDate),
  /** The open gates, oldest first; missing before the first one. The gates themselves have a collection of their own. */
  openGates: Type.Optional(Type.Array(closedObject({ gateId: Type.String(), key: Type.String() }))),
  /** When the newest closed gate closed. The job is stale that much later. Missing before. */
  resumedAt: Type.Optional(BsonDate),
  /** A copy of the running step with the newest report; null while no step is running. */
  current: nullable(StepDoc),
  /** The number of reports on the job's steps. Orders these reports. */
  seq: Type.Number(),
  /** Missing unless cancellation was requested since the job was created or started again. */
  cancel: Type.Optional(CancelRequest),
  /** The report or other update that brought the job to its final status; missing while it is running. */
  endedBy: Type.Optional(BsonObjectId),
  /** Stored payloads that the newest report with an output replaced. */
  replaced: Type.Optional(Type.Array(BsonObjectId)),
  /** The address to which the end of the job is sent; missing if there is none. */
  callbackUrl: Type.Optional(Type.String()),
  /** The id of the job that the first `?new=1` after this one's end began; missing before. */
  nextRunId: Type.Optional(Type.String()),
  /** Missing unless the job was announced as stale, and not reported since. */
  silence: Type.Optional(Silence),
  notes: Notes,
  /** The steps under the `stepField` of their keys, in the order of creation; missing while there are none. */
  steps: Type.Optional(Type.Record(Type.String(), StepDoc)),
});
export type JobDoc = Static<typeof JobDoc>;

export const jobCollection = defineCollection(JobDoc, [
  { keys: { jobId: 1 }, unique: true },
  { keys: { createdAt: -1, _id: -1 } },
  { keys: { status: 1, createdAt: -1, _id: -1 } },
  { keys: { nameKey: 1, createdAt: -1, _id: -1 } },
  { keys: { nameWords: 1, createdAt: -1, _id: -1 } },
  { keys: { metadataTerms: 1, createdAt: -1, _id: -1 } },
  { keys: { updatedMinute: -1 } },
  { keys: { status: 1, endedAt: 1 } },
  { keys: { staleMinute: 1 }, partialFilterExpression: { status: "running" } },
  // Contains only jobs whose cancellation was requested, in the order of lists.
  {
    keys: { createdAt: -1, _id: -1, "cancel.requestedAt": 1 },
    partialFilterExpression: { "cancel.requestedAt": { $exists: true } },
  },
  { keys: { "openGates.gateId": 1 }, partialFilterExpression: { "openGates.gateId": { $exists: true } } },
  NOTED_INDEX,
]);

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

/** A job as clients read it, without its steps. Times are ISO 8601 UTC with milliseconds. */
export interface JobView {
  jobId: string;
  name: string | null;
  description: string | null;
  input: FreeObject | null;
  metadata: FreeObject | null;
  status: Status;
  progress: number;
  message: string | null;
  output: FreeObject | null;
  createdAt: string;
  updatedAt: string;
  lastReportAt: string | null;
  stale: boolean;
  staleAt: string | null;
  staleAfterSeconds: number | null;
  cancel: { requestedAt: string; reason: string | null } | null;
  waitingFor: string[];
}
