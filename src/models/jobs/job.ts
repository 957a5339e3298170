import { type mongo, Schema } from "mongoose";
import type { FreeObject } from "./freeObject.ts";
import type { Payload } from "./payloads.ts";
import type { StepDoc } from "./step.ts";

/** The status of a job or a step. */
export type Status = StepDoc["status"];

export interface JobDoc {
  /** The internal id. A job that is created again under the same jobId has another one. */
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
  /** `updatedAt` truncated to the minute, for the index: see jobTimes.ts. */
  updatedMinute: Date;
  endedAt: Date | null;
  lastReportAt: Date | null;
  /** Seconds without a report after which the job is stale; null for the configured default. */
  staleAfterSeconds: number | null;
  /** The time from which a running job is stale; null once it has ended. */
  staleAt: Date | null;
  /** `staleAt` truncated to the minute, for the index. */
  staleMinute: Date | null;
  /** A copy of the running step with the newest report; null while no step is running. */
  current: StepDoc | null;
  /** The number of reports on the job's steps. Orders these reports. */
  seq: number;
  /** The report that brought the job to its final status; missing if no report did. */
  endedBy?: mongo.ObjectId;
  /** Stored payloads that the newest report with an output replaced. */
  replaced?: mongo.ObjectId[];
  /** The steps under the `stepField` of their keys, in the order of creation; missing while there are none. */
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
}
