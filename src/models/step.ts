import { randomUUID } from "node:crypto";
import { type mongo, Schema } from "mongoose";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { type FreeObject, packObject, unpackObject } from "./freeObject.ts";
import { guard, retryUpsert } from "./guard.ts";
import { literal, type Status } from "./job.ts";

export interface StepDoc {
  _id: mongo.ObjectId;
  stepId: string;
  jobId: string;
  /** The internal id of the job: a step never shows up in another job of the same jobId. */
  job: mongo.ObjectId;
  stepKey: string;
  stepName: string;
  status: Status;
  progress: number;
  message: string | null;
  output: string | null;
  createdAt: Date;
  updatedAt: Date;
  startedAt: Date;
  endedAt: Date | null;
  attempts: number;
  /** Milliseconds with a fraction: orders the reports of one process also within a millisecond. */
  reportedAt: number;
}

export const stepSchema = new Schema<StepDoc>(
  {
    stepId: String,
    jobId: String,
    job: Schema.Types.ObjectId,
    stepKey: String,
    stepName: String,
    status: String,
    progress: Number,
    message: String,
    output: String,
    createdAt: Date,
    updatedAt: Date,
    startedAt: Date,
    endedAt: Date,
    attempts: Number,
    reportedAt: Number,
  },
  { versionKey: false },
);
stepSchema.index({ jobId: 1, job: 1, stepKey: 1 }, { unique: true });
stepSchema.index({ job: 1, createdAt: 1, _id: 1 });
/** Leads to a job's current step at once, however many steps it has. */
const RUNNING = { job: 1, reportedAt: -1 } as const;
stepSchema.index(RUNNING, { partialFilterExpression: { status: "running" } });

/** What a report says of its step; a field that is not there stays as it is. */
export interface StepChange {
  readonly stepName?: string | undefined;
  readonly status?: Status | undefined;
  readonly progress?: number | undefined;
  readonly message?: string | undefined;
  readonly output?: FreeObject | undefined;
}

/** What the answer to a report shows of its step. Times are ISO 8601 UTC in milliseconds. */
export interface StepReceipt {
  stepId: string;
  jobId: string;
  stepKey: string;
  stepName: string;
  status: Status;
  progress: number;
  message: string | null;
  createdAt: string;
  updatedAt: string;
  startedAt: string;
}

/** The step without its output, as `currentStep` shows it. */
export interface StepSummary extends StepReceipt {
  attempts: number;
  lastReportAt: string;
  stale: boolean;
}

export interface StepView extends StepSummary {
  output: FreeObject | null;
}

/** One step read on its own; durationMs once it is completed. */
export interface SingleStepView extends StepView {
  durationMs?: number;
}

/** Which job a step belongs to: jobId leads the query to the right shard, the internal id to the right job. */
export interface JobRef {
  readonly _id: mongo.ObjectId;
  readonly jobId: string;
}

export class Steps {
  readonly collection: mongo.Collection<StepDoc>;
  readonly #clock: Clock;
  #lastTick = 0;

  constructor(collection: mongo.Collection<StepDoc>, clock: Clock) {
    this.collection = collection;
    this.#clock = clock;
  }

  /**
   * Creates the step or changes the fields given.
   * @throws AppError invalid_body when it is new and has no stepName, unavailable, body_too_large
   */
  async report(job: JobRef, stepKey: string, change: StepChange): Promise<{ created: boolean; step: StepDoc }> {
    const filter = { jobId: job.jobId, job: job._id, stepKey };
    const pipeline = [{ $set: this.#changed(change) }];
    const { value: step, lastErrorObject } = await guard(() =>
      retryUpsert(() =>
        this.collection.findOneAndUpdate(filter, pipeline, {
          upsert: change.stepName !== undefined,
          returnDocument: "after",
          includeResultMetadata: true,
          projection: { output: 0 },
        }),
      ),
    );
    if (step) return { created: lastErrorObject?.updatedExisting === false, step };
    const detail = "is required in the report that creates the step";
    throw new AppError("invalid_body", { detail: `stepName ${detail}.`, errors: [{ pointer: "/stepName", detail }] });
  }

  #changed(change: StepChange): Record<string, unknown> {
    const now = this.#clock.now();
    const keep = (field: string, fallback: unknown) => ({ $ifNull: [`$${field}`, literal(fallback)] });
    const given = (field: "stepName" | "status" | "progress" | "message", fallback: unknown) =>
      change[field] === undefined ? keep(field, fallback) : literal(change[field]);
    const restarted = change.status === "running" ? { $in: ["$status", ["failed", "completed"]] } : false;
    const ended = { $cond: [{ $eq: ["$status", change.status] }, { $ifNull: ["$endedAt", now] }, now] };
    return {
      stepId: keep("stepId", randomUUID()),
      stepName: given("stepName", null),
      status: given("status", "running"),
      progress: given("progress", 0),
      message: given("message", null),
      output: change.output === undefined ? keep("output", null) : literal(packObject("output", change.output)),
      createdAt: keep("createdAt", now),
      updatedAt: { $max: ["$updatedAt", now] },
      startedAt: { $cond: [restarted, now, keep("startedAt", now)] },
      endedAt: change.status === undefined ? keep("endedAt", null) : change.status === "running" ? null : ended,
      attempts: { $cond: [restarted, { $add: ["$attempts", 1] }, keep("attempts", 1)] },
      reportedAt: { $max: ["$reportedAt", this.#tick(now)] },
    };
  }

  /** Grows with every call, so that of two reports in one millisecond the later one is known. */
  #tick(now: Date): number {
    this.#lastTick = Math.max(now.getTime(), this.#lastTick + 1 / 1024);
    return this.#lastTick;
  }

  /** @throws AppError step_not_found, unavailable */
  async find(job: JobRef, stepKey: string): Promise<StepDoc> {
    const step = await guard(() => this.collection.findOne({ jobId: job.jobId, job: job._id, stepKey }));
    if (step) return step;
    throw new AppError("step_not_found", {
      detail: `The job ${JSON.stringify(job.jobId)} has no step ${JSON.stringify(stepKey)}.`,
    });
  }

  /** Of the steps still running the one most recently reported, without its output. @throws AppError unavailable */
  findCurrent(job: JobRef): Promise<StepDoc | null> {
    const query = { jobId: job.jobId, job: job._id, status: "running" as const };
    return guard(() =>
      this.collection.findOne(query, { sort: { reportedAt: -1 }, hint: RUNNING, projection: { output: 0 } }),
    );
  }

  /** Deletes the steps of jobs that are gone. @throws AppError unavailable */
  async deleteOf(jobs: readonly JobRef[]): Promise<void> {
    const filter = { jobId: { $in: jobs.map((job) => job.jobId) }, job: { $in: jobs.map((job) => job._id) } };
    await guard(() => this.collection.deleteMany(filter));
  }

  receipt(step: StepDoc): StepReceipt {
    return {
      stepId: step.stepId,
      jobId: step.jobId,
      stepKey: step.stepKey,
      stepName: step.stepName,
      status: step.status,
      progress: step.progress,
      message: step.message,
      createdAt: step.createdAt.toISOString(),
      updatedAt: step.updatedAt.toISOString(),
      startedAt: step.startedAt.toISOString(),
    };
  }

  summary(step: StepDoc, staleAfterMs: number): StepSummary {
    const silentMs = this.#clock.now().getTime() - step.updatedAt.getTime();
    return {
      ...this.receipt(step),
      attempts: step.attempts,
      lastReportAt: step.updatedAt.toISOString(),
      stale: step.status === "running" && silentMs >= staleAfterMs,
    };
  }

  view(step: StepDoc, staleAfterMs: number): StepView {
    return { ...this.summary(step, staleAfterMs), output: unpackObject(step.output) };
  }

  single(step: StepDoc, staleAfterMs: number): SingleStepView {
    const view = this.view(step, staleAfterMs);
    if (step.status !== "completed") return view;
    const endedAt = step.endedAt ?? step.updatedAt;
    return { ...view, durationMs: Math.max(0, endedAt.getTime() - step.startedAt.getTime()) };
  }
}
