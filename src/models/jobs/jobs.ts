import { mongo } from "mongoose";
import { Batcher, EQUAL_WEIGHTS } from "../../shared/batcher.ts";
import type { Clock } from "../../shared/clock.ts";
import { AppError, ignore } from "../../shared/errors.ts";
import type { ChangeNotifier } from "../../shared/queue/changeStream.ts";
import type { JobView, Usual } from "../../wire/job.ts";
import type { StepSummary } from "../../wire/step.ts";
import type { Documents } from "../db/documents.ts";
import type { NoteNotifier } from "../notes/note.ts";
import type { NoteOptions, WantedNotifications } from "../notes/wantedNotifications.ts";
import { type CancelChange, cancelReason, cancelStages } from "./cancelUpdate.ts";
import { Children } from "./children.ts";
import type { FreeObject } from "./freeObject.ts";
import { type JobDoc, type JobHead, type ReceivedChange, type Status, viewJob, WITHOUT_STEPS } from "./job.ts";
import type { CountedJob, JobCounter, UsualSource } from "./jobCounter.ts";
import { isReport, jobFields } from "./jobFields.ts";
import { endedBy, noteFields } from "./jobNotes.ts";
import type { OneJob } from "./jobScope.ts";
import { changedAt, staleAfterMs, timeStages } from "./jobTimes.ts";
import { inOrder } from "./order.ts";
import { changesPayloads, type PayloadField } from "./payloads/payloadFields.ts";
import { type Payloads, PayloadWrites } from "./payloads/payloads.ts";
import { type ReportChange, reportUpdate } from "./reports/reportUpdate.ts";
import { slowFields, waitingStage } from "./runTime.ts";
import { FAILED_WORDS } from "./search/failedWords.ts";
import { noteSilent, type SilenceScan } from "./silentJobs.ts";
import { noteSlow, type SlowScan } from "./slowJobs.ts";
import { type StepDoc, stepSummary } from "./step.ts";

/** The fields of a job that decide how long it and its steps may be silent. */
type SilentFields = Pick<JobDoc, "staleAfterSeconds" | "openGates" | "resumedAt">;

/** The projection of an update's result: without steps, but with the fields that follow-up writes use. */
const UPDATED = { steps: 0 } as const;

/** Maximum transitions that have woken a session of which a job keeps a record. */
const MAX_RETURNS = 20;

/** The settings that updates of jobs depend on. */
export interface JobSettings {
  /** The `staleAfterSeconds` of jobs that have none of their own. */
  readonly staleAfterSeconds: number;
  readonly wanted: WantedNotifications;
}

export interface JobOptions extends JobSettings, NoteOptions {
  readonly clock: Clock;
  /** Counts the jobs that this process starts and ends. */
  readonly counter: JobCounter;
  readonly usual: UsualSource;
}

export class Jobs {
  readonly collection: Documents<JobDoc>;
  readonly #clock: Clock;
  readonly #changes: ChangeNotifier;
  readonly #notes: NoteNotifier;
  readonly #payloads: Payloads;
  readonly #settings: JobSettings;
  readonly #counter: JobCounter;
  readonly children: Children;
  readonly usual: UsualSource;
  readonly #finder = new Batcher<string, JobHead>((jobIds) => this.#findAll(jobIds), EQUAL_WEIGHTS);

  constructor(collection: Documents<JobDoc>, payloads: Payloads, options: JobOptions) {
    this.collection = collection;
    this.children = new Children(collection);
    this.usual = options.usual;
    this.#payloads = payloads;
    this.#clock = options.clock;
    this.#changes = options.changes;
    this.#notes = options.notes;
    this.#counter = options.counter;
    this.#settings = options;
  }

  /**
   * Creates a job or changes the fields given. Progress never decreases, and `status: "completed"` sets it to 100. A change of
   * status, progress, message or output counts as a report.
   * @returns the job, whether it is new, and its final status if this change ended it
   * @throws AppError unavailable, body_too_large
   */
  async put(jobId: string, change: ReceivedChange): Promise<{ created: boolean; ended: Status | null; job: JobHead }> {
    const now = this.#clock.now();
    const writes = new PayloadWrites();
    const id = new mongo.ObjectId();
    const ends = change.status === "running" ? undefined : change.status;
    const set = inOrder(change, { ...jobFields(jobId, change, writes, now), ...(ends && endedBy(ends, id)) });
    await this.#payloads.write(writes.docs);
    const { parentJobId } = change;
    const isMarked = !parentJobId || (await this.children.mark(parentJobId));
    const before = parentJobId === undefined ? null : await this.find(jobId).catch(ignore("job_not_found"));
    const { staleAfterSeconds, wanted } = this.#settings;
    const notes = noteFields({ id, ends, isReport: isReport(change) }, wanted, now);
    const slow = wanted.types.has("job.slow") && slowFields(change.status, now);
    const pipeline = [
      { $set: { ...set, ...slow } },
      ...timeStages(staleAfterSeconds, { last: { failedWords: FAILED_WORDS, ...notes } }),
    ];
    const projection = UPDATED;
    const { document: job, created } = await this.collection.upsertOne<JobHead>({ jobId }, pipeline, { projection });
    // If this fails, the sweep deletes them.
    if (changesPayloads(change)) await this.#payloads.delete([jobId], job.replaced ?? []).catch(() => {});
    this.notifyChange(jobId);
    if (created || change.status !== undefined || parentJobId !== undefined) this.notifyParent(job);
    if (before && before.parentJobId !== job.parentJobId) this.notifyParent(before);
    if (job.notes) this.noted();
    const ended = ends && job.endedBy?.equals(id) ? ends : null;
    if (created) this.#counter.countStarted(job);
    if (ended) this.countEnded(job);
    if (!isMarked) await this.children.mark(parentJobId);
    const isParent = job.isParent || (await this.children.markIfAny(jobId));
    return { created, ended, job: isParent ? { ...job, isParent } : job };
  }

  /**
   * Requests that a running job be cancelled. The first request is kept. A forced one also fails the job, in the same update.
   * @returns the job, and whether this request ended it
   * @throws AppError job_not_found, job_ended, unavailable
   */
  async cancel(jobId: string, change: CancelChange): Promise<{ job: JobHead; ended: boolean }> {
    const now = this.#clock.now();
    const id = new mongo.ObjectId();
    const { staleAfterSeconds, wanted } = this.#settings;
    const ends = change.force ? "failed" : undefined;
    const notes = noteFields({ id, ends, reason: cancelReason(change), isReport: false }, wanted, now);
    const stages = [
      ...cancelStages(change, id, now),
      ...timeStages(staleAfterSeconds, { last: { failedWords: FAILED_WORDS, ...notes } }),
    ];
    const options = { returnDocument: "after", projection: UPDATED } as const;
    const job = await this.collection.findOneAndUpdate({ jobId, status: "running" }, stages, options);
    if (job) {
      this.notifyChange(jobId);
      if (change.force) this.notifyParent(job);
      if (job.notes) this.noted();
      this.countEnded(job);
      return { job, ended: job.status !== "running" };
    }
    const { status } = await this.find(jobId);
    // The job was created or started again between the update and the read.
    if (status === "running") return this.cancel(jobId, change);
    throw new AppError("job_ended", { detail: `The job ${JSON.stringify(jobId)} has already ${status}.` });
  }

  /** Returns the update of a job's document that applies a report now. */
  reportUpdate(report: ReportChange, { addsReplaced = false } = {}): mongo.Document[] {
    return reportUpdate(report, this.#clock.now(), { ...this.#settings, addsReplaced });
  }

  /** Adds a job that a change of this process has ended to the figures; a running one is left out. */
  countEnded(job: CountedJob): void {
    this.#counter.countEnded(job);
  }

  /** Notifies readers of live events that a report was applied. */
  notifyReport(job: Pick<JobDoc, "jobId" | "parentJobId">, stepKey: string, hasEnded: boolean): void {
    const { jobId } = job;
    this.#changes.notify({ kind: "step", jobId, stepKey });
    this.#changes.notify({ kind: "job", jobId, moved: hasEnded });
    if (hasEnded) this.notifyParent(job);
  }

  /** Notifies readers of the parent of a job, which counts its children by status. */
  notifyParent({ parentJobId }: Pick<JobDoc, "parentJobId">): void {
    if (parentJobId !== null) this.#changes.notify({ kind: "job", jobId: parentJobId, moved: false });
  }

  /** Notes that jobs are stale: see `noteSilent`. @returns the number of jobs */
  async noteSilent(scan: Pick<SilenceScan, "now" | "resumedAt">, limit: number): Promise<number> {
    const { staleAfterSeconds, wanted } = this.#settings;
    const onlyReturning = !wanted.types.has("job.stale");
    const count = await noteSilent(this.collection, { ...scan, staleAfterSeconds, onlyReturning }, limit);
    if (count > 0) this.noted();
    return count;
  }

  /** Notes that jobs are slow: see `noteSlow`. @returns the number of jobs */
  async noteSlow(scan: SlowScan, limit: number): Promise<number> {
    const count = await noteSlow(this.collection, this.usual, scan, limit);
    if (count > 0) this.noted();
    return count;
  }

  /**
   * Records that a transition has woken a session, once for each.
   * @param internalId of the job that had the transition
   */
  async addReturn({ jobId, internalId }: OneJob, added: NonNullable<JobDoc["returns"]>[number]): Promise<void> {
    const query = { _id: new mongo.ObjectId(internalId), jobId, "returns.id": { $ne: added.id } };
    await this.collection.updateOne(query, { $push: { returns: { $each: [added], $slice: -MAX_RETURNS } } });
    this.notifyChange(jobId);
  }

  /** The events that are noted. */
  get wanted(): WantedNotifications {
    return this.#settings.wanted;
  }

  /** Triggers the dispatch of events that an update of a job has noted. */
  noted(): void {
    this.#notes.noted();
  }

  /**
   * Changes which gates a job waits for. The stale time starts again once no gate is open.
   * @param set the changed fields as expressions
   * @returns whether the job exists and matches
   */
  async updateGates(query: mongo.Filter<JobDoc> & { jobId: string }, set: mongo.Document): Promise<boolean> {
    const now = this.#clock.now();
    const changed = { ...set, ...changedAt(now) };
    const { matchedCount } = await this.collection.updateOne(query, [
      { $set: changed },
      waitingStage(now),
      ...timeStages(this.#settings.staleAfterSeconds),
    ]);
    return matchedCount > 0;
  }

  /** Notifies readers of live events, and whoever waits for a gate, that a job has changed. */
  notifyChange(jobId: string): void {
    this.#changes.notify({ kind: "job", jobId, moved: true });
  }

  /** Deletes the given jobs as far as they match a query. @returns the number of deleted jobs */
  async delete(
    jobs: readonly Pick<JobDoc, "_id" | "jobId" | "parentJobId">[],
    query: mongo.Filter<JobDoc>,
  ): Promise<number> {
    const ids = jobs.map(({ _id }) => _id);
    const { deletedCount } = await this.collection.deleteMany({ $and: [{ _id: { $in: ids } }, query] });
    if (deletedCount === 0) return 0;
    for (const job of jobs) {
      this.notifyChange(job.jobId);
      this.notifyParent(job);
    }
    return deletedCount;
  }

  /** Reads a job, in one query with concurrent calls. @throws AppError job_not_found, unavailable */
  find(jobId: string): Promise<JobHead> {
    return this.#finder.add(jobId);
  }

  async #findAll(jobIds: readonly string[]): Promise<(JobHead | AppError)[]> {
    const query = jobIds.length > 1 ? { jobId: { $in: [...new Set(jobIds)] } } : { jobId: jobIds[0] as string };
    const found = await this.collection.find<JobHead>(query, { projection: WITHOUT_STEPS });
    const byId = new Map(found.map((job) => [job.jobId, job]));
    return jobIds.map((jobId) => byId.get(jobId) ?? jobNotFound(jobId));
  }

  /** Reads only the internal id of a job. @throws AppError job_not_found, unavailable */
  async findId(jobId: string): Promise<mongo.ObjectId> {
    const id = await this.#internalId(jobId);
    if (!id) throw jobNotFound(jobId);
    return id;
  }

  /** Returns whether a job has neither been deleted nor created again under its id. */
  async exists({ jobId, internalId }: OneJob): Promise<boolean> {
    return (await this.#internalId(jobId))?.toHexString() === internalId;
  }

  async #internalId(jobId: string): Promise<mongo.ObjectId | undefined> {
    const job = await this.collection.findOne({ jobId }, { projection: { _id: 1 } });
    return job?._id;
  }

  /** Returns a job as clients read it: see `viewJob`. */
  view(
    job: JobHead,
    free: Record<PayloadField, FreeObject | null>,
    usual: Usual | null,
  ): Omit<JobView, "currentStep" | "children"> {
    return viewJob(job, free, usual, { now: this.#clock.now(), traces: this.#settings.wanted.traces });
  }

  /** Returns a step of a job without its output. */
  stepSummary(job: Pick<JobDoc, "jobId"> & SilentFields, step: StepDoc): StepSummary {
    const silence = { staleAfterMs: this.staleAfterMs(job), resumedAt: job.resumedAt };
    return stepSummary(job.jobId, step, this.#clock.now(), silence);
  }

  /** Returns how long a job or one of its steps may run without a report before it is stale, in milliseconds. */
  staleAfterMs(job: Omit<SilentFields, "resumedAt">): number {
    return staleAfterMs(job, this.#settings.staleAfterSeconds);
  }
}

/** @param remedy a sentence about what to do */
export function jobNotFound(jobId: string, remedy?: string): AppError {
  const fault = `There is no job ${JSON.stringify(jobId)}.`;
  return new AppError("job_not_found", { detail: remedy ? `${fault} ${remedy}` : fault });
}
