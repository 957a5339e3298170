import { mongo, Schema } from "mongoose";
import type { Changes } from "../shared/changes.ts";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { type FreeObject, unpackObject } from "./freeObject.ts";
import { guard } from "./guard.ts";
import type { CurrentStep, Status } from "./job.ts";
import { reading } from "./newPrimary.ts";
import { readAll } from "./readAll.ts";
import { reportedStep, type StepState, type StoredStep, TICK } from "./reportedStep.ts";
import { writeUnchanged } from "./writeUnchanged.ts";

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
  /** Milliseconds with a fraction: orders the reports on a job also within a millisecond. */
  reportedAt: number;
  /** Another with every change, so that one who has read the step knows whether it is still so. */
  rev: mongo.ObjectId | null;
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
    rev: Schema.Types.ObjectId,
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
  /** As it is kept. */
  readonly output?: string | undefined;
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

/** Tells one step from every other. */
export const stepName = ({ job, stepKey }: Pick<StepDoc, "job" | "stepKey">): string =>
  `${job.toHexString()} ${stepKey}`;

export class Steps {
  readonly collection: mongo.Collection<StepDoc>;
  readonly #clock: Clock;
  readonly #changes: Changes;
  #lastTick = 0;

  constructor(collection: mongo.Collection<StepDoc>, clock: Clock, changes: Changes) {
    this.collection = collection;
    this.#clock = clock;
    this.#changes = changes;
  }

  /** Steps as reports know them, by `stepName`; those that are not there are missing. @throws AppError unavailable */
  async findForReports(wanted: readonly { job: JobRef; stepKey: string }[]): Promise<Map<string, StoredStep>> {
    if (wanted.length === 0) return new Map();
    const byJob = Map.groupBy(wanted, ({ job }) => job);
    const jobs = [...byJob.keys()];
    const keysOf = (of: readonly { stepKey: string }[]) => ({ $in: [...new Set(of.map(({ stepKey }) => stepKey))] });
    const stepKey = keysOf(wanted);
    const each = [...byJob].map(([{ _id, jobId }, of]) => ({ jobId, job: _id, stepKey: keysOf(of) }));
    const all = { jobId: { $in: jobs.map(({ jobId }) => jobId) }, job: { $in: jobs.map(({ _id }) => _id) }, stepKey };
    // one condition for all is quicker, as long as it does not find much more than is wanted
    const query = jobs.length * stepKey.$in.length <= 4 * wanted.length ? all : { $or: each };
    const found = await readAll<StepDoc, StoredStep>(this.collection, query, { projection: { output: 0 } });
    return new Map(found.map((step) => [stepName(step), step]));
  }

  /**
   * The step after a report.
   * @param latest `reportedAt` of the job's report before, which may be of a process whose clock is ahead
   * @throws AppError invalid_body when it is new and has no stepName
   */
  reported(before: StepState | null, job: JobRef, stepKey: string, change: StepChange, latest: number): StepState {
    const now = this.#clock.now();
    return reportedStep(before, job, stepKey, change, now, Math.max(this.#tick(now), latest + TICK));
  }

  /**
   * Writes steps that were reported on, where nobody has changed them since they were read.
   * @param was as it is in the collection; null for one that is new
   * @returns the names (`stepName`) of those that somebody has changed or made
   * @throws AppError unavailable, body_too_large
   */
  async write(changed: readonly { readonly was: StoredStep | null; readonly is: StepState }[]): Promise<Set<string>> {
    const missed = await writeUnchanged(
      this.collection,
      changed.map(({ was, is: { stepId, jobId, job, stepKey, createdAt, output, ...set } }) => {
        if (was) return { was, set: output === undefined ? set : { ...set, output } };
        const fixed = { stepId, jobId, job, stepKey, createdAt, output: output ?? null };
        return { insert: { ...set, ...fixed, _id: new mongo.ObjectId(), rev: null } };
      }),
    );
    for (const [i, { is }] of changed.entries()) {
      if (!missed.has(i)) this.#changes.note({ kind: "step", jobId: is.jobId, stepKey: is.stepKey });
    }
    return new Set([...missed].map((i) => stepName(changed[i]!.is)));
  }

  /** Grows with every call, so that of two reports in one millisecond the later one is known. */
  #tick(now: Date): number {
    this.#lastTick = Math.max(now.getTime(), this.#lastTick + TICK);
    return this.#lastTick;
  }

  /** @throws AppError step_not_found, unavailable */
  async find(job: JobRef, stepKey: string): Promise<StepDoc> {
    const step = await reading(this.collection, () =>
      this.collection.findOne({ jobId: job.jobId, job: job._id, stepKey }),
    );
    if (step) return step;
    throw new AppError("step_not_found", {
      detail: `The job ${JSON.stringify(job.jobId)} has no step ${JSON.stringify(stepKey)}.`,
    });
  }

  /** Of the steps still running the one most recently reported, without its output. @throws AppError unavailable */
  findCurrent(job: JobRef): Promise<StepDoc | null> {
    const query = { jobId: job.jobId, job: job._id, status: "running" as const };
    return reading(this.collection, () =>
      this.collection.findOne(query, { sort: { reportedAt: -1 }, hint: RUNNING, projection: { output: 0 } }),
    );
  }

  /** Deletes the steps of jobs that are gone. @throws AppError unavailable */
  async deleteOf(jobs: readonly JobRef[]): Promise<void> {
    const filter = { jobId: { $in: jobs.map((job) => job.jobId) }, job: { $in: jobs.map((job) => job._id) } };
    await guard(() => this.collection.deleteMany(filter));
  }

  receipt(step: CurrentStep & { readonly jobId: string }): StepReceipt {
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

  summary(step: CurrentStep & { readonly jobId: string }, staleAfterMs: number): StepSummary {
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
