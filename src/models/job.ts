import { type mongo, Schema } from "mongoose";
import type { FreeObject } from "./freeObject.ts";
import type { StepDoc } from "./step.ts";

export type Status = "running" | "completed" | "failed";

export interface JobDoc {
  /** The internal id; a job deleted and made again under the same jobId has another. */
  _id: mongo.ObjectId;
  jobId: string;
  name: string | null;
  /** The name in lower case, for the search by prefix. */
  nameKey: string | null;
  description: string | null;
  input: string | null;
  metadata: string | null;
  metadataTerms: string[];
  status: Status;
  progress: number;
  message: string | null;
  output: string | null;
  createdAt: Date;
  updatedAt: Date;
  endedAt: Date | null;
  lastReportAt: Date | null;
  /** The job's own time to stale, in seconds; null takes the configuration's. */
  staleAfterSeconds: number | null;
  /** From when on a running job is stale; null once it has ended. */
  staleAt: Date | null;
  /**
   * Of the steps still running the one most recently reported, where `currentKnown` says that it is known. What is reported
   * of it stands here alone until another takes its place or it ends: see `upToDate`.
   */
  current: CurrentStep | null;
  currentKnown: boolean;
  /**
   * Another with every report, so that the next one knows whether `current` is still so; also where `staleAfterSeconds`
   * changes. What else is changed by hand is no matter to reports: they say of it what they mean, whatever it is by then.
   */
  rev: mongo.ObjectId | null;
}

/** What a job keeps of its current step: all that readers see of it. */
export type CurrentStep = Pick<
  StepDoc,
  | "stepId"
  | "stepKey"
  | "stepName"
  | "status"
  | "progress"
  | "message"
  | "createdAt"
  | "updatedAt"
  | "startedAt"
  | "attempts"
  | "reportedAt"
>;

export const jobSchema = new Schema<JobDoc>(
  {
    jobId: String,
    name: String,
    nameKey: String,
    description: String,
    input: String,
    metadata: String,
    metadataTerms: [String],
    status: String,
    progress: Number,
    message: String,
    output: String,
    createdAt: Date,
    updatedAt: Date,
    endedAt: Date,
    lastReportAt: Date,
    staleAfterSeconds: Number,
    staleAt: Date,
    current: Schema.Types.Mixed,
    currentKnown: Boolean,
    rev: Schema.Types.ObjectId,
  },
  { versionKey: false },
);
jobSchema.index({ jobId: 1 }, { unique: true });
jobSchema.index({ createdAt: -1, _id: -1 });
jobSchema.index({ status: 1, createdAt: -1, _id: -1 });
jobSchema.index({ nameKey: 1, createdAt: -1, _id: -1 });
jobSchema.index({ metadataTerms: 1, createdAt: -1, _id: -1 });
jobSchema.index({ updatedAt: -1 });
jobSchema.index({ status: 1, endedAt: 1 });
jobSchema.index({ staleAt: 1 }, { partialFilterExpression: { status: "running" } });

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

/** What a report of a step does to its job. */
export interface JobEffect {
  readonly progress?: number | undefined;
  readonly message?: string | undefined;
  readonly ends?:
    | { readonly status: "completed" /** As it is kept. */; readonly output: string }
    | { readonly status: "failed" }
    | undefined;
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
