import type { mongo } from "mongoose";
import { Batcher, EQUAL_WEIGHTS } from "../../shared/batcher.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError } from "../../shared/errors.ts";
import type { ChangeNotifier } from "../../shared/queue/changeStream.ts";
import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { mapMongoErrors } from "../db/mongoErrors.ts";
import { readAll } from "../db/readAll.ts";
import { retryUpsert } from "../db/retry.ts";
import { type FreeObject, packObject } from "./freeObject.ts";
import type { JobChange, JobDoc, JobView, Status } from "./job.ts";
import { staleAfterMs, timeStages } from "./jobTimes.ts";
import { type Payloads, PayloadWrites } from "./payloads.ts";
import { endedAt, type ReportChange, reportUpdate } from "./reportUpdate.ts";
import { nameKey, searchTerms } from "./searchKeys.ts";
import { type StepDoc, type StepSummary, stepSummary } from "./step.ts";

type Expression = Record<string, unknown>;

/** A job without its steps, which may take megabytes. */
export type JobHead = Omit<JobDoc, "steps">;

/** The projection that leaves out steps and the fields that only reports use. */
export const WITHOUT_STEPS = { steps: 0, replaced: 0, endedBy: 0, updatedMinute: 0, staleMinute: 0 } as const;

/** Returns a value unchanged to MongoDB, which would otherwise interpret strings with `$` as expressions. */
const literal = (value: unknown): Expression => ({ $literal: value });
const or = (field: string, fallback: unknown): Expression => ({ $ifNull: [field, literal(fallback)] });

export class Jobs {
  readonly collection: mongo.Collection<JobDoc>;
  readonly #clock: Clock;
  readonly #changes: ChangeNotifier;
  readonly #payloads: Payloads;
  readonly #staleAfterSeconds: number;
  readonly #finder = new Batcher<string, JobHead>((jobIds) => this.#findAll(jobIds), EQUAL_WEIGHTS);

  constructor(
    collection: mongo.Collection<JobDoc>,
    payloads: Payloads,
    clock: Clock,
    changes: ChangeNotifier,
    staleAfterSeconds: number,
  ) {
    this.collection = collection;
    this.#payloads = payloads;
    this.#clock = clock;
    this.#changes = changes;
    this.#staleAfterSeconds = staleAfterSeconds;
  }

  /**
   * Creates a job or changes the fields given. Progress never decreases, and `status: "completed"` sets it to 100. A change of
   * status, progress, message or output counts as a report.
   * @returns the job, whether it is new, and its final status if this change ended it
   * @throws AppError unavailable, body_too_large
   */
  async put(jobId: string, change: JobChange): Promise<{ created: boolean; ended: Status | null; job: JobHead }> {
    const now = this.#clock.now();
    const writes = new PayloadWrites();
    const set = this.#fieldsFor(jobId, change, writes, now);
    await this.#payloads.write(writes.docs);
    const pipeline = [{ $set: set }, ...timeStages(this.#staleAfterSeconds)];
    const options = { upsert: true, returnDocument: "after", includeResultMetadata: true } as const;
    const { value: job, lastErrorObject } = await mapMongoErrors(() =>
      retryUpsert(() =>
        this.collection.findOneAndUpdate({ jobId }, pipeline, { ...options, projection: { steps: 0, endedBy: 0 } }),
      ),
    );
    if (!job) throw new Error("an upsert returned no document");
    // If this fails, the sweep deletes them.
    if (changesPayloads(change)) await this.#payloads.delete([jobId], job.replaced ?? []).catch(() => {});
    this.#changes.notify({ kind: "job", jobId, moved: true });
    const ended = job.endedAt?.getTime() === now.getTime() ? job.status : null;
    return { created: lastErrorObject?.updatedExisting === false, ended, job };
  }

  #fieldsFor(jobId: string, change: JobChange, writes: PayloadWrites, now: Date): Expression {
    const isReport = ["status", "progress", "message", "output"].some((field) => field in change);
    const given = (field: keyof JobChange, value: unknown = change[field]) =>
      change[field] === undefined ? or(`$${field}`, null) : literal(value);
    const payload = (field: "input" | "metadata" | "output") => {
      const text = packObject(field, change[field] ?? null);
      return given(field, text === null ? null : writes.keep(jobId, text));
    };
    const status = change.status === undefined ? or("$status", "running") : literal(change.status);
    return {
      jobId: literal(jobId),
      name: given("name"),
      nameKey: change.name === undefined ? or("$nameKey", null) : literal(change.name && nameKey(change.name)),
      description: given("description"),
      input: payload("input"),
      metadata: payload("metadata"),
      metadataTerms: change.metadata === undefined ? or("$metadataTerms", []) : literal(searchTerms(change.metadata)),
      staleAfterSeconds: given("staleAfterSeconds"),
      status,
      progress:
        change.status === "completed" ? literal(100) : { $max: [or("$progress", 0), literal(change.progress ?? 0)] },
      message: given("message"),
      output: payload("output"),
      createdAt: or("$createdAt", now),
      updatedAt: { $max: ["$updatedAt", now] },
      lastReportAt: isReport ? { $max: ["$lastReportAt", now] } : or("$lastReportAt", null),
      endedAt: change.status === undefined ? or("$endedAt", null) : endedAt(change.status, "$$ROOT", now),
      current: or("$current", null),
      seq: or("$seq", 0),
      ...(changesPayloads(change) && { replaced: replacedBy(change) }),
    };
  }

  /** Returns the update of a job's document that applies a report now. */
  reportUpdate(report: ReportChange): mongo.Document[] {
    return reportUpdate(report, this.#clock.now(), this.#staleAfterSeconds);
  }

  /** Notifies readers of live events that a report was applied. */
  notifyReport(jobId: string, stepKey: string, hasEnded: boolean): void {
    this.#changes.notify({ kind: "step", jobId, stepKey });
    this.#changes.notify({ kind: "job", jobId, moved: hasEnded });
  }

  /** Deletes the given jobs as far as they match a query. @returns the number of deleted jobs @throws AppError unavailable */
  async delete(jobs: readonly Pick<JobDoc, "_id" | "jobId">[], query: mongo.Filter<JobDoc>): Promise<number> {
    const ids = jobs.map(({ _id }) => _id);
    const { deletedCount } = await mapMongoErrors(() =>
      this.collection.deleteMany({ $and: [{ _id: { $in: ids } }, query] }),
    );
    if (deletedCount > 0) for (const { jobId } of jobs) this.#changes.notify({ kind: "job", jobId, moved: true });
    return deletedCount;
  }

  /** Reads a job, in one query with concurrent calls. @throws AppError job_not_found, unavailable */
  find(jobId: string): Promise<JobHead> {
    return this.#finder.add(jobId);
  }

  async #findAll(jobIds: readonly string[]): Promise<(JobHead | AppError)[]> {
    const query = jobIds.length > 1 ? { jobId: { $in: [...new Set(jobIds)] } } : { jobId: jobIds[0] as string };
    const found = await readAll<JobDoc, JobHead>(this.collection, query, { projection: WITHOUT_STEPS });
    const byId = new Map(found.map((job) => [job.jobId, job]));
    return jobIds.map((jobId) => byId.get(jobId) ?? jobNotFound(jobId));
  }

  /** Reads only the internal id of a job. @throws AppError job_not_found, unavailable */
  async findId(jobId: string): Promise<mongo.ObjectId> {
    const job = await readFromCaughtUpPrimary(this.collection, () =>
      this.collection.findOne({ jobId }, { projection: { _id: 1 } }),
    );
    if (!job) throw jobNotFound(jobId);
    return job._id;
  }

  /**
   * Returns a job as clients read it.
   * @param free its free objects
   */
  view(job: JobHead, free: Record<PayloadField, FreeObject | null>): JobView {
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
      stale: job.staleAt !== null && job.staleAt <= this.#clock.now(),
      staleAt: job.staleAt?.toISOString() ?? null,
      staleAfterSeconds: job.staleAfterSeconds,
    };
  }

  /** Returns a step of a job without its output. */
  stepSummary(job: Pick<JobDoc, "jobId" | "staleAfterSeconds">, step: StepDoc): StepSummary {
    return stepSummary(job.jobId, step, this.#clock.now(), staleAfterMs(job, this.#staleAfterSeconds));
  }
}

/** The fields of a job that hold free objects. */
export const PAYLOAD_FIELDS = ["input", "metadata", "output"] as const;
export type PayloadField = (typeof PAYLOAD_FIELDS)[number];

/** Returns whether a change may replace stored payloads. */
const changesPayloads = (change: JobChange): boolean => PAYLOAD_FIELDS.some((field) => change[field] !== undefined);

/** Returns the expression for the stored payloads that a change replaces. */
function replacedBy(change: JobChange): Expression {
  const fields = PAYLOAD_FIELDS.filter((field) => change[field] !== undefined);
  return { $setDifference: [fields.map((field) => `$${field}.payload`), [null]] };
}

/** The expression for every stored payload that a job refers to. */
export const PAYLOAD_IDS = {
  $setDifference: [
    {
      $concatArrays: [
        ["$input.payload", "$metadata.payload", "$output.payload"],
        { $ifNull: ["$replaced", []] },
        {
          $map: { input: { $objectToArray: { $ifNull: ["$steps", {}] } }, in: "$$this.v.output.payload" },
        },
      ],
    },
    [null],
  ],
};

export function jobNotFound(jobId: string): AppError {
  return new AppError("job_not_found", { detail: `There is no job ${JSON.stringify(jobId)}.` });
}
