import { type mongo, Schema } from "mongoose";
import type { FreeObject } from "./freeObject.ts";
import type { Payload } from "./payloads.ts";
import type { StepDoc } from "./step.ts";

/** A job has the statuses of its steps. */
export type Status = StepDoc["status"];

export interface JobDoc {
  /** The internal id; a job deleted and made again under the same jobId has another. */
  _id: mongo.ObjectId;
  jobId: string;
  name: string | null;
  /** The name in lower case, for the search by prefix. */
  nameKey: string | null;
  description: string | null;
  input: Payload | null;
  metadata: Payload | null;
  metadataTerms: string[];
  status: Status;
  progress: number;
  message: string | null;
  output: Payload | null;
  createdAt: Date;
  updatedAt: Date;
  /** The minute of `updatedAt`, for the index: see jobTimes.ts. */
  updatedMinute: Date;
  endedAt: Date | null;
  lastReportAt: Date | null;
  /** The job's own time to stale, in seconds; null takes the configuration's. */
  staleAfterSeconds: number | null;
  /** From when on a running job is stale; null once it has ended. */
  staleAt: Date | null;
  /** The minute of `staleAt`, for the index. */
  staleMinute: Date | null;
  /** A copy of the running step that was reported last. */
  current: StepDoc | null;
  /** How many reports the job has had. Orders the reports on its steps. */
  seq: number;
  /** The report that ended the job in its status; missing where no report did. */
  endedBy?: mongo.ObjectId;
  /** Stored payloads that the last report with an output has replaced. */
  replaced?: mongo.ObjectId[];
  /** The steps by `stepField` of their keys, in the order in which they were created; missing while there are none. */
  steps?: Record<string, StepDoc>;
}

export const jobSchema = new Schema<JobDoc>(
  {
    jobId: String,
    name: String,
    nameKey: String,
    description: String,
    input: Schema.Types.Mixed,
    metadata: Schema.Types.Mixed,
    metadataTerms: [String],
    status: String,
    progress: Number,
    message: String,
    output: Schema.Types.Mixed,
    createdAt: Date,
    updatedAt: Date,
    updatedMinute: Date,
    endedAt: Date,
    lastReportAt: Date,
    staleAfterSeconds: Number,
    staleAt: Date,
    staleMinute: Date,
    current: Schema.Types.Mixed,
    seq: Number,
    endedBy: Schema.Types.ObjectId,
    replaced: [Schema.Types.ObjectId],
    steps: Schema.Types.Mixed,
  },
  { versionKey: false },
);
jobSchema.index({ jobId: 1 }, { unique: true });
jobSchema.index({ createdAt: -1, _id: -1 });
jobSchema.index({ status: 1, createdAt: -1, _id: -1 });
jobSchema.index({ nameKey: 1, createdAt: -1, _id: -1 });
jobSchema.index({ metadataTerms: 1, createdAt: -1, _id: -1 });
jobSchema.index({ updatedMinute: -1 });
jobSchema.index({ status: 1, endedAt: 1 });
jobSchema.index({ staleMinute: 1 }, { partialFilterExpression: { status: "running" } });

/** What PUT /api/jobs/:jobId may set; a field that is not there stays as it is, null clears it. */
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
}

/** The job as clients read it, without what its steps add. Times are ISO 8601 UTC in milliseconds. */
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
}
