import { mongo } from "mongoose";
import { Batcher, EQUAL_WEIGHTS } from "../../../shared/batcher.ts";
import type { Clock } from "../../../shared/clock.ts";
import { AppError } from "../../../shared/errors.ts";
import type { ChangeNotifier } from "../../../shared/queue/changeStream.ts";
import { type Jobs, jobNotFound } from "../jobs.ts";
import { stepPath } from "../reports/reportUpdate.ts";
import { stepField } from "../step.ts";
import { appendLogs, LOG_BATCHES, type LogAppend, type LogCollections } from "./appendLogs.ts";
import type { LogLines } from "./logLine.ts";

/** Maximum chunks that one call deletes. */
const BATCH_SIZE = 500;

/** The name of a step. */
type OneStep = Pick<LogAppend, "jobId" | "stepKey">;

/** The internal id of a job, and whether it has a step. */
interface Found {
  readonly job: mongo.ObjectId;
  readonly hasStep: boolean;
}

/** The logs of steps. See `readLog` for reading them. */
export class Logs {
  readonly collections: LogCollections;
  readonly #appends: Batcher<LogAppend, undefined>;
  readonly #finds: Batcher<OneStep, Found | null>;

  constructor(collections: LogCollections, jobs: Jobs, { clock, changes }: { clock: Clock; changes: ChangeNotifier }) {
    this.collections = collections;
    this.#appends = new Batcher((appends) => appendLogs(collections, changes, appends, clock.now()), LOG_BATCHES);
    this.#finds = new Batcher((steps) => findSteps(jobs, steps), EQUAL_WEIGHTS);
  }

  /**
   * Appends lines to the log of a step. Lines beyond what a job may keep are counted and not stored. Returns once the lines are
   * durable; if it throws, some of them may be stored.
   * @throws AppError job_not_found, step_not_found, unavailable
   */
  async append(jobId: string, stepKey: string, added: LogLines): Promise<void> {
    const job = await this.findStep(jobId, stepKey);
    await this.appendTo({ job, jobId, stepKey }, added);
  }

  /** Appends lines to the log of a step that exists. */
  async appendTo(step: Pick<LogAppend, "job" | "jobId" | "stepKey">, added: LogLines): Promise<void> {
    if (added.lines.length > 0) await this.#appends.add({ ...step, ...added });
  }

  /**
   * Appends lines to the log of a step before the report on it.
   * @param createsStep whether the report creates the step if it does not exist
   * @returns whether the lines were added: not without the job or the step, of which the report then says more
   */
  async appendEarly(jobId: string, stepKey: string, added: LogLines, createsStep: boolean): Promise<boolean> {
    const found = await this.#finds.add({ jobId, stepKey });
    if (!found || !(createsStep || found.hasStep)) return false;
    await this.appendTo({ job: found.job, jobId, stepKey }, added);
    return true;
  }

  /** Returns the internal id of the job of a step. @throws AppError job_not_found, step_not_found, unavailable */
  async findStep(jobId: string, stepKey: string): Promise<mongo.ObjectId> {
    const found = await this.#finds.add({ jobId, stepKey });
    if (!found) throw jobNotFound(jobId);
    if (!found.hasStep) {
      const detail = `The job ${JSON.stringify(jobId)} has no step ${JSON.stringify(stepKey)}.`;
      throw new AppError("step_not_found", { detail });
    }
    return found.job;
  }

  /** Deletes the logs of deleted jobs. @param jobs their internal ids */
  async deleteOf(jobs: readonly mongo.ObjectId[]): Promise<void> {
    const { chunks, sizes } = this.collections;
    await Promise.all([chunks.deleteMany({ job: { $in: [...jobs] } }), sizes.deleteMany({ _id: { $in: [...jobs] } })]);
  }

  /**
   * Deletes a batch of lines from before a time, in whole chunks.
   * @returns the number of deleted chunks; 0 if none are left
   */
  async deleteBefore(time: Date): Promise<number> {
    const { chunks, sizes } = this.collections;
    const projection = { job: 1, bytes: 1 } as const;
    // no chunk changes before it is created: the index of ids leaves out the young ones
    const created = mongo.ObjectId.createFromTime(Math.ceil(time.getTime() / 1_000));
    const old = { _id: { $lt: created }, updatedAt: { $lt: time } };
    const batch = await chunks.find(old, { projection, limit: BATCH_SIZE });
    if (batch.length === 0) return 0;
    await chunks.deleteMany({ ...old, _id: { $in: batch.map(({ _id }) => _id) } });
    const left = (bytes: number) => [{ $set: { bytes: { $max: [0, { $subtract: ["$bytes", bytes] }] } } }];
    await sizes.bulkWrite(
      batch.map(({ job, bytes }) => ({ updateOne: { filter: { _id: job }, update: left(bytes) } })),
    );
    await sizes.deleteMany({ _id: { $in: batch.map(({ job }) => job) }, bytes: 0 });
    return batch.length;
  }
}

/** Looks for the steps of concurrent calls with one read. @returns null for each whose job does not exist */
async function findSteps(jobs: Jobs, steps: readonly OneStep[]): Promise<(Found | null)[]> {
  const projection = {
    jobId: 1,
    ...Object.fromEntries(steps.map(({ stepKey }) => [`${stepPath(stepKey)}.stepId`, 1])),
  };
  const query = { jobId: { $in: [...new Set(steps.map(({ jobId }) => jobId))] } };
  const found = new Map((await jobs.collection.find(query, { projection })).map((job) => [job.jobId, job]));
  return steps.map(({ jobId, stepKey }) => {
    const job = found.get(jobId);
    return job ? { job: job._id, hasStep: Object.hasOwn(job.steps ?? {}, stepField(stepKey)) } : null;
  });
}
