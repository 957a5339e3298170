import type { mongo } from "mongoose";
import { StartError } from "../../../shared/process/lifecycle.ts";
import { ownCommand } from "../../../shared/process/ownCommands.ts";
import type { Documents } from "../../db/documents.ts";
import { insertAll } from "../../db/insertAll.ts";
import type { JobDoc, Status } from "../job.ts";
import { minuteOf, staleAfterMs } from "../jobTimes.ts";
import { isStored, type Payload, type PayloadDoc, PayloadWrites } from "../payloads.ts";
import { MAX_JOB_BYTES } from "../reports/reportUpdate.ts";
import { type StepDoc, stepField } from "../step.ts";

/** A step as versions before 2 stored it, in its own collection. */
interface OldStepDoc {
  _id: mongo.ObjectId;
  stepId: string;
  jobId: string;
  /** The `_id` of the job. */
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
  /** Orders the reports on a job; missing in the first version. */
  reportedAt?: number;
}

/** A job as versions before 2 stored it. `current` may include a report that the step itself lacks. */
type OldJobDoc = Omit<JobDoc, "current" | "steps"> & {
  current?: Omit<OldStepDoc, "_id" | "jobId" | "job" | "output" | "endedAt"> | null;
};

/** The collections that versions before 2 used for steps. */
const OLD_COLLECTIONS = ["deletions", "steps"] as const;

/** Indexes of jobs that versions before 2 used. */
const OLD_INDEXES = ["updatedAt_-1", "staleAt_1"] as const;

/** Maximum jobs of one batch. Their steps without outputs are in memory at the same time. */
const BATCH_SIZE = 50;
/** Maximum characters of outputs that one command copies, without the output that exceeds them. */
const MAX_COPY_LENGTH = 4 * 1024 * 1024;

/** Returns whether a database has steps in the format of versions before 2. */
export async function hasOldSteps(db: mongo.Db): Promise<boolean> {
  return (await db.listCollections({ name: "steps" }, { nameOnly: true }).toArray()).length > 0;
}

export interface MigrationOptions {
  /** The default for jobs without a value of their own. */
  readonly staleAfterSeconds: number;
  readonly batchSize?: number;
  /** Receives the number of migrated jobs and of all jobs. */
  onProgress?(done: number, total: number): void;
}

/**
 * Moves the steps of versions before 2 into the documents of their jobs, and their outputs to `payloads`. All processes of the
 * former version must be stopped. The migration may be interrupted and repeated: jobs with `seq` are already migrated.
 * @throws StartError if the steps of a job are too large for its document. Nothing is changed then.
 */
export async function migrateSteps(
  jobs: Documents<JobDoc>,
  payloads: Documents<PayloadDoc>,
  { staleAfterSeconds, onProgress, batchSize = BATCH_SIZE }: MigrationOptions,
): Promise<void> {
  const { db } = jobs;
  if (!(await hasOldSteps(db))) return;
  const steps = db.collection<OldStepDoc>("steps");
  await rejectLargeJobs(steps);
  const old = db.collection<OldJobDoc>("jobs");
  const total = await old.estimatedDocumentCount();
  let done = 0;
  let after: mongo.Filter<OldJobDoc> = {};
  for (;;) {
    const query = { ...after, seq: { $exists: false } };
    const batch = await old.find(query, { sort: { _id: 1 }, limit: batchSize }).toArray();
    const last = batch.at(-1);
    if (!last) break;
    after = { _id: { $gt: last._id } };
    await migrateJobs(batch, { old, steps, payloads, staleAfterSeconds });
    done += batch.length;
    onProgress?.(done, total);
  }
  for (const name of OLD_INDEXES) await jobs.dropIndex(name).catch(() => {}); // The index may not exist.
  for (const name of OLD_COLLECTIONS) await db.collection(name).drop();
}

async function rejectLargeJobs(steps: Documents<OldStepDoc>): Promise<void> {
  const size = { $subtract: [{ $bsonSize: "$$ROOT" }, { $strLenBytes: { $ifNull: ["$output", ""] } }] };
  const large = await steps
    .aggregate<{ jobId: string }>(
      [
        { $group: { _id: "$job", jobId: { $first: "$jobId" }, size: { $sum: size } } },
        { $match: { size: { $gte: MAX_JOB_BYTES } } },
        { $limit: 5 },
      ],
      { allowDiskUse: true },
    )
    .toArray();
  if (large.length === 0) return;
  const names = large.map(({ jobId }) => JSON.stringify(jobId)).join(", ");
  throw new StartError(
    `The steps of the jobs ${names} take more than 12 MB without their outputs, which is the maximum for one job. Nothing was changed. Start the version that you had before, delete these jobs, stop it, and run \`${ownCommand("release")}\` again.`,
  );
}

interface Migration {
  readonly old: Documents<OldJobDoc>;
  readonly steps: Documents<OldStepDoc>;
  readonly payloads: Documents<PayloadDoc>;
  readonly staleAfterSeconds: number;
}

async function migrateJobs(batch: readonly mongo.WithId<OldJobDoc>[], to: Migration): Promise<void> {
  const { old, steps, payloads, staleAfterSeconds } = to;
  const job = { $in: batch.map(({ _id }) => _id) };
  const found = await steps
    .aggregate<WithoutOutput>([
      { $match: { job } },
      { $sort: { job: 1, createdAt: 1, _id: 1 } },
      { $set: { length: { $strLenCP: { $ifNull: ["$output", ""] } } } },
      { $unset: ["output", "rev"] },
    ])
    .toArray();
  await copyOutputs(job, to);
  const byJob = Map.groupBy(found, (step) => step.job.toHexString());
  const writes = new PayloadWrites();
  const updates = batch.map((one) => {
    const update = migrateJob(one, byJob.get(one._id.toHexString()) ?? [], writes, staleAfterSeconds);
    return { updateOne: { filter: { _id: one._id, seq: { $exists: false } }, update } };
  });
  if (writes.docs.length > 0) await payloads.insertMany(writes.docs);
  await old.bulkWrite(updates);
}

/** Copies outputs under the ids of their steps, so that a repetition does not copy them twice. */
async function copyOutputs(job: { $in: mongo.ObjectId[] }, { steps, payloads }: Migration): Promise<void> {
  let docs: PayloadDoc[] = [];
  let length = 0;
  const copy = async () => {
    await insertAll(payloads, [docs]);
    docs = [];
    length = 0;
  };
  const withOutput = steps.find({ job, output: { $type: "string" } }, { projection: { jobId: 1, output: 1 } });
  for await (const { _id, jobId, output } of withOutput) {
    docs.push({ _id, jobId, text: output as string });
    length += output?.length ?? 0;
    if (length > MAX_COPY_LENGTH) await copy();
  }
  if (docs.length > 0) await copy();
}

/** Returns the update that migrates a job of versions before 2. */
function migrateJob(
  job: mongo.WithId<OldJobDoc>,
  found: readonly WithoutOutput[],
  writes: PayloadWrites,
  staleAfterSeconds: number,
): mongo.UpdateFilter<OldJobDoc> {
  const newest = found.map((step) => withNewestReport(step, job.current ?? null));
  const order = [...newest].sort((one, other) => reportedAt(one) - reportedAt(other));
  const seqs = new Map(order.map((step, i) => [step, i + 1]));
  const migrated = newest.map((step): StepDoc => {
    const { _id, jobId: _, job: __, length, reportedAt: ___, ...fields } = step;
    return { ...fields, output: length > 0 ? { payload: _id, length } : null, seq: seqs.get(step)! };
  });
  const running = migrated.filter(({ status }) => status === "running");
  const current = running.reduce<StepDoc | null>((best, step) => (best && best.seq > step.seq ? best : step), null);
  const store = (payload: Payload | null | undefined) =>
    payload == null || isStored(payload) ? (payload ?? null) : writes.keep(job.jobId, payload);
  const updatedAt = later(job.updatedAt, job.lastReportAt);
  const staleAt = staleAtOf(job, staleAfterSeconds);
  const set = {
    ...{ input: store(job.input), metadata: store(job.metadata), output: store(job.output) },
    // Versions before 2 stored these two with a lag of up to a minute.
    ...{ updatedAt, updatedMinute: minuteOf(updatedAt), staleAt, staleMinute: staleAt && minuteOf(staleAt) },
    ...{ current, seq: migrated.length },
    // A Map keeps its order, also where keys look like numbers.
    ...(migrated.length > 0 && { steps: new Map(migrated.map((step) => [stepField(step.stepKey), step])) }),
  };
  return { $set: set, $unset: { currentKnown: 1, rev: 1 } } as unknown as mongo.UpdateFilter<OldJobDoc>;
}

type WithoutOutput = Omit<OldStepDoc, "output"> & { length: number };

const reportedAt = (step: WithoutOutput): number => step.reportedAt ?? step.updatedAt.getTime();

/** Returns a step with its newest report, which only `current` of the job may include. */
function withNewestReport(step: WithoutOutput, current: OldJobDoc["current"]): WithoutOutput {
  const isBehind = current?.stepId === step.stepId && (current.reportedAt ?? 0) > (step.reportedAt ?? 0);
  return isBehind ? { ...step, ...current, endedAt: null } : step;
}

const staleAtOf = (job: OldJobDoc, staleAfterSeconds: number): Date | null =>
  job.status === "running"
    ? new Date((job.lastReportAt ?? job.createdAt).getTime() + staleAfterMs(job, staleAfterSeconds))
    : null;

const later = (one: Date, other: Date | null): Date => (other !== null && other > one ? other : one);
