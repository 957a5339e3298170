import cluster from "node:cluster";
import { mongo } from "mongoose";
import type { Changes } from "../shared/changes.ts";
import type { Clock } from "../shared/clock.ts";
import { AppError } from "../shared/errors.ts";
import { ALIKE, Together } from "../shared/together.ts";
import { packObject, searchTerms, unpackObject } from "./freeObject.ts";
import { guard, retryUpsert } from "./guard.ts";
import type { JobChange, JobDoc, JobEffect, JobView, Status } from "./job.ts";
import {
  endOfSilenceExpression,
  type StaleBy,
  staleAfterMs,
  staleAtOf,
  storedStaleAt,
  updatedAtOf,
} from "./jobTimes.ts";
import { KnownJobs } from "./knownJobs.ts";
import { reading } from "./newPrimary.ts";
import { readAll } from "./readAll.ts";
import { type JobState, reportedJob } from "./reportedJob.ts";
import { type Computing, writeUnchanged } from "./writeUnchanged.ts";

type Expression = Record<string, unknown>;

/**
 * Several web processes share the processors: what one of them spends looking for more reads, the others and MongoDB lack
 * (docs/performance.md, "Reads linger").
 */
const LINGERING = cluster.isWorker ? { lingerMs: 1 } : { lingerMs: 0.5, lingersAwake: true };

/** What reports look at. */
const FOR_REPORTS = {
  ...{ jobId: 1, status: 1, progress: 1, message: 1, createdAt: 1, updatedAt: 1, endedAt: 1, lastReportAt: 1 },
  ...{ staleAfterSeconds: 1, staleAt: 1, current: 1, currentKnown: 1, rev: 1 },
} as const;

/** A value as it is, whatever it looks like: without it `$`-strings would be read as expressions. */
const literal = (value: unknown): Expression => ({ $literal: value });
const or = (field: string, fallback: unknown): Expression => ({ $ifNull: [field, literal(fallback)] });

/** What reports make of a job. */
export interface JobWrite {
  readonly was: JobState;
  readonly is: JobState;
  /** The fields of `is` that the reports name: these hold whatever they were. */
  readonly said: ReadonlySet<keyof JobState>;
}

export class Jobs {
  readonly collection: mongo.Collection<JobDoc>;
  readonly #clock: Clock;
  readonly #changes: Changes;
  readonly #staleAfterSeconds: number;
  readonly #known = new KnownJobs();
  readonly #finding = new Together<string, JobDoc>((jobIds) => this.#findAll(jobIds), {
    ...ALIKE,
    ...LINGERING,
  });

  constructor(collection: mongo.Collection<JobDoc>, clock: Clock, changes: Changes, staleAfterSeconds: number) {
    this.collection = collection;
    this.#clock = clock;
    this.#changes = changes;
    this.#staleAfterSeconds = staleAfterSeconds;
  }

  /**
   * Creates the job or changes the fields given. Progress only goes forward; `status: "completed"` brings it to 100.
   * A change of status, progress, message or output counts as a report.
   * @returns the job, whether it is new, and the status it ended in when this change ended it
   * @throws AppError unavailable, body_too_large
   */
  async put(jobId: string, change: JobChange): Promise<{ created: boolean; ended: Status | null; job: JobDoc }> {
    const now = this.#clock.now();
    const pipeline = [{ $set: this.#changed(jobId, change, now) }, this.#staleStage()];
    const { value: job, lastErrorObject } = await guard(() =>
      retryUpsert(() =>
        this.collection.findOneAndUpdate({ jobId }, pipeline, {
          upsert: true,
          returnDocument: "after",
          includeResultMetadata: true,
        }),
      ),
    );
    if (!job) throw new Error("an upsert answered without its document");
    this.#known.forget(jobId);
    this.#changes.note({ kind: "job", jobId, moved: true });
    const ended = job.endedAt?.getTime() === now.getTime() ? job.status : null;
    return { created: lastErrorObject?.updatedExisting === false, ended, job };
  }

  #changed(jobId: string, change: JobChange, now: Date): Expression {
    const isReport = ["status", "progress", "message", "output"].some((field) => field in change);
    const given = <K extends keyof JobChange>(field: K, value: unknown = change[field]) =>
      change[field] === undefined ? or(`$${field}`, null) : literal(value);
    const status = change.status === undefined ? or("$status", "running") : literal(change.status);
    return {
      jobId: literal(jobId),
      name: given("name"),
      nameKey: change.name === undefined ? or("$nameKey", null) : literal(change.name && nameKey(change.name)),
      description: given("description"),
      input: given("input", packObject("input", change.input ?? null)),
      metadata: given("metadata", packObject("metadata", change.metadata ?? null)),
      metadataTerms: change.metadata === undefined ? or("$metadataTerms", []) : literal(searchTerms(change.metadata)),
      staleAfterSeconds: given("staleAfterSeconds"),
      status,
      progress:
        change.status === "completed" ? literal(100) : { $max: [or("$progress", 0), literal(change.progress ?? 0)] },
      message: given("message"),
      output: given("output", packObject("output", change.output ?? null)),
      createdAt: or("$createdAt", now),
      updatedAt: { $max: ["$updatedAt", now] },
      lastReportAt: isReport ? { $max: ["$lastReportAt", now] } : or("$lastReportAt", null),
      endedAt: change.status === undefined ? or("$endedAt", null) : endedAt(change.status, now),
      current: or("$current", null),
      currentKnown: { $ifNull: ["$currentKnown", { $eq: [{ $type: "$createdAt" }, "missing"] }] }, // a new job has no step
      rev: change.staleAfterSeconds === undefined ? or("$rev", new mongo.ObjectId()) : literal(new mongo.ObjectId()),
    };
  }

  /** The jobs of these ids as reports know them, by their ids; those that are not there are missing. */
  async findForReports(jobIds: readonly string[]): Promise<Map<string, JobState>> {
    const query = { jobId: { $in: [...jobIds] } };
    const found = await readAll<JobDoc, JobState>(this.collection, query, { projection: FOR_REPORTS });
    return new Map(found.map((job) => [job.jobId, job]));
  }

  /** A job as this process has left it, where it reports on it again and again; somebody may have changed it. */
  known(jobId: string): JobState | undefined {
    return this.#known.get(jobId);
  }

  /** The job after a report. */
  reported(before: JobState, effect: JobEffect): JobState {
    return reportedJob(before, effect, this.#clock.now());
  }

  /**
   * Writes jobs that were reported on, where nobody else's report has come between. What was changed by hand meanwhile stays,
   * but for what the reports say.
   * @returns the ids of those that somebody has reported on
   * @throws AppError unavailable, body_too_large
   */
  async write(changed: readonly JobWrite[]): Promise<Set<string>> {
    const rev = new mongo.ObjectId();
    const writes = changed.map(({ was, is, said }) => {
      const written = { ...is, staleAt: storedStaleAt(was.staleAt, is, this.#staleAfterSeconds) };
      return { was, written, ...changeOf(was, written, said) };
    });
    const missed = await writeUnchanged(this.collection, writes, { rev, computing: COMPUTING });
    for (const [i, { was, written: is }] of writes.entries()) {
      if (missed.has(i)) {
        this.#known.share(is.jobId);
        continue;
      }
      this.#known.keep({ ...is, rev });
      this.#changes.note({ kind: "job", jobId: is.jobId, moved: is.status !== was.status });
      const { current } = is;
      if (current && current.reportedAt !== was.current?.reportedAt) {
        this.#changes.note({ kind: "step", jobId: is.jobId, stepKey: current.stepKey });
      }
    }
    return new Set([...missed].map((i) => changed[i]!.is.jobId));
  }

  /** Deletes those of the jobs that a query fits. @returns how many these were */
  async delete(jobs: readonly Pick<JobDoc, "_id" | "jobId">[], query: mongo.Filter<JobDoc>): Promise<number> {
    const ids = jobs.map(({ _id }) => _id);
    const { deletedCount } = await guard(() => this.collection.deleteMany({ $and: [{ _id: { $in: ids } }, query] }));
    if (deletedCount > 0) for (const { jobId } of jobs) this.#changes.note({ kind: "job", jobId, moved: true });
    return deletedCount;
  }

  /** @throws AppError job_not_found, unavailable */
  find(jobId: string): Promise<JobDoc> {
    return this.#finding.add(jobId);
  }

  async #findAll(jobIds: readonly string[]): Promise<(JobDoc | AppError)[]> {
    const query = jobIds.length > 1 ? { jobId: { $in: [...new Set(jobIds)] } } : { jobId: jobIds[0] as string };
    const found = await readAll(this.collection, query);
    const byId = new Map(found.map((job) => [job.jobId, job]));
    return jobIds.map((jobId) => byId.get(jobId) ?? jobNotFound(jobId));
  }

  /** The internal id alone. @throws AppError job_not_found, unavailable */
  async findId(jobId: string): Promise<mongo.ObjectId> {
    const job = await reading(this.collection, () => this.collection.findOne({ jobId }, { projection: { _id: 1 } }));
    if (!job) throw jobNotFound(jobId);
    return job._id;
  }

  /** The second stage of every change: what decides when the job is stale has been set by the first. */
  #staleStage(): { $set: Expression } {
    const staleAt = endOfSilenceExpression(this.#staleAfterSeconds);
    return { $set: { staleAt: { $cond: [{ $eq: ["$status", "running"] }, staleAt, null] } } };
  }

  /** What decides which jobs are stale at a time. */
  staleBy(now: Date): StaleBy {
    return { now, staleAfterSeconds: this.#staleAfterSeconds };
  }

  /** How long a running job or step of this job may be silent before it is stale, in milliseconds. */
  staleAfterMs(job: Pick<JobDoc, "staleAfterSeconds">): number {
    return staleAfterMs(job, this.#staleAfterSeconds);
  }

  view(job: JobDoc): JobView {
    const staleAt = staleAtOf(job, this.#staleAfterSeconds);
    return {
      jobId: job.jobId,
      name: job.name,
      description: job.description,
      input: unpackObject(job.input),
      metadata: unpackObject(job.metadata),
      status: job.status,
      progress: job.progress,
      message: job.message,
      output: unpackObject(job.output),
      createdAt: job.createdAt.toISOString(),
      updatedAt: updatedAtOf(job).toISOString(),
      lastReportAt: job.lastReportAt?.toISOString() ?? null,
      stale: staleAt !== null && staleAt <= this.#clock.now(),
      staleAt: staleAt?.toISOString() ?? null,
      staleAfterSeconds: job.staleAfterSeconds,
    };
  }
}

/** What never goes back, also where somebody has changed it by hand meanwhile, by a clock that is ahead. */
const raised = (field: string) => (given: string) => ({ $max: [`$${field}`, given] });

/** What reports make of fields whose values depend on what the job is by then. */
const COMPUTING: Computing = {
  ...{ progress: raised("progress"), updatedAt: raised("updatedAt"), lastReportAt: raised("lastReportAt") },
  endedAt: (given) => ({
    $cond: [{ $gt: [given, null] }, endedAt(`${given}.status`, `${given}.at`), "$endedAt"],
  }),
};

/** What becomes of the fields that differ and those that are said: set, or given to what is computed of the job as it is by then. */
function changeOf(was: JobState, is: JobState, said: ReadonlySet<string>) {
  const set: Record<string, unknown> = {};
  const given: Record<string, unknown> = {};
  for (const [field, value] of Object.entries(is)) {
    if (!said.has(field) && value === was[field as keyof JobState]) continue;
    if (field === "endedAt") given[field] = { status: is.status, at: is.lastReportAt };
    else if (field in COMPUTING) given[field] = value;
    else set[field] = value;
  }
  return { set, given };
}

/** A status that is reported again keeps the time of its first report. Both may be paths where they stand. */
function endedAt(status: string, now: Date | string): Expression {
  return status === "running"
    ? literal(null)
    : { $cond: [{ $eq: ["$status", status] }, { $ifNull: ["$endedAt", now] }, now] };
}

/** What the search by name compares: lower case, so that it does not matter how the name was typed. */
export const nameKey = (name: string): string => name.toLowerCase();

export function jobNotFound(jobId: string): AppError {
  return new AppError("job_not_found", { detail: `There is no job ${JSON.stringify(jobId)}.` });
}
