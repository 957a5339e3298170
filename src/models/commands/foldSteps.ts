import type { mongo } from "mongoose";
import { StartError } from "../../shared/lifecycle.ts";
import type { JobDoc, Status } from "../job.ts";
import { staleAfterMs } from "../jobTimes.ts";
import { isStored, type PayloadDoc, PayloadWrites } from "../payloads.ts";
import { fieldOf, type StepDoc } from "../step.ts";

/** A step as versions before 2 stored it, in a collection of its own. */
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
  /** Orders the reports on a job. Missing in the first version. */
  reportedAt?: number;
}

/** A job as versions before 2 stored it. The newest report on its current step may stand here alone. */
type OldJobDoc = Omit<JobDoc, "current" | "steps"> & {
  current?: Omit<OldStepDoc, "_id" | "jobId" | "job" | "output" | "endedAt"> | null;
};

/** The collections that versions before 2 used for steps. */
const OLD_COLLECTIONS = ["steps", "deletions"] as const;

/** Maximum jobs that are folded at the same time. */
const CONCURRENCY = 50;
/** Maximum size of the steps of one job, outputs apart, in bytes: see MAX_JOB_BYTES in reportUpdate.ts. */
const MAX_STEPS_BYTES = 12 * 1024 * 1024;

/** Whether a database holds steps as versions before 2 stored them. */
export async function hasOldSteps(db: mongo.Db): Promise<boolean> {
  return (await db.listCollections({ name: "steps" }, { nameOnly: true }).toArray()).length > 0;
}

/**
 * Moves the steps of versions before 2 into the documents of their jobs, and their outputs to `payloads`. Processes of the
 * version before must be stopped. It may be interrupted and repeated: a job that has `seq` has been moved.
 * @param staleAfterSeconds for jobs that have none of their own
 * @param onProgress receives how many jobs have been looked at, and how many there are
 * @throws StartError if the steps of a job take too much for its document; nothing has been changed then
 */
export async function foldSteps(
  jobs: mongo.Collection<JobDoc>,
  payloads: mongo.Collection<PayloadDoc>,
  staleAfterSeconds: number,
  onProgress: (done: number, total: number) => void = () => {},
): Promise<void> {
  const { db } = jobs;
  if (!(await hasOldSteps(db))) return;
  const steps = db.collection<OldStepDoc>("steps");
  await refuseLargeJobs(steps);
  const old = db.collection<OldJobDoc>("jobs");
  const total = await old.estimatedDocumentCount();
  let done = 0;
  let batch: mongo.WithId<OldJobDoc>[] = [];
  const fold = async () => {
    await Promise.all(batch.map((job) => foldJob(job, { old, steps, payloads, staleAfterSeconds })));
    done += batch.length;
    batch = [];
    onProgress(done, total);
  };
  for await (const job of old.find({ seq: { $exists: false } }, { sort: { _id: 1 } })) {
    batch.push(job);
    if (batch.length === CONCURRENCY) await fold();
  }
  if (batch.length > 0) await fold();
  for (const name of OLD_COLLECTIONS) await db.collection(name).drop();
}

async function refuseLargeJobs(steps: mongo.Collection<OldStepDoc>): Promise<void> {
  const size = { $subtract: [{ $bsonSize: "$$ROOT" }, { $strLenBytes: { $ifNull: ["$output", ""] } }] };
  const large = await steps
    .aggregate<{ jobId: string }>(
      [
        { $group: { _id: "$job", jobId: { $first: "$jobId" }, size: { $sum: size } } },
        { $match: { size: { $gte: MAX_STEPS_BYTES } } },
        { $limit: 5 },
      ],
      { allowDiskUse: true },
    )
    .toArray();
  if (large.length === 0) return;
  const names = large.map(({ jobId }) => JSON.stringify(jobId)).join(", ");
  throw new StartError(
    `The steps of the jobs ${names} take more than 12 MB without their outputs, which is the maximum for one job. Nothing was changed. Start the version that you had before, delete these jobs, stop it, and run \`npm run release\` again.`,
  );
}

interface Folding {
  readonly old: mongo.Collection<OldJobDoc>;
  readonly steps: mongo.Collection<OldStepDoc>;
  readonly payloads: mongo.Collection<PayloadDoc>;
  readonly staleAfterSeconds: number;
}

async function foldJob(
  job: mongo.WithId<OldJobDoc>,
  { old, steps, payloads, staleAfterSeconds }: Folding,
): Promise<void> {
  const { _id, jobId } = job;
  const found = await steps
    .aggregate<Omit<OldStepDoc, "output"> & { length: number }>([
      { $match: { job: _id } },
      { $sort: { createdAt: 1, _id: 1 } },
      { $set: { length: { $strLenCP: { $ifNull: ["$output", ""] } } } },
      { $unset: "output" },
    ])
    .toArray();
  const withOutput = found.filter(({ length }) => length > 0).map((step) => step._id);
  for (const id of withOutput) await copyOutput(id, jobId, steps, payloads);
  const newest = found.map((step) => upToDate(step, job.current ?? null));
  const order = [...newest].sort((one, other) => reportedAt(one) - reportedAt(other));
  const seqs = new Map(order.map((step, i) => [step, i + 1]));
  const folded = newest.map((step): StepDoc => {
    const { _id: id, jobId: _, job: __, length, reportedAt: ___, ...kept } = step;
    const output = length > 0 ? { payload: id, length } : null;
    const { rev, ...fields } = kept as typeof kept & { rev?: unknown };
    return { ...fields, output, seq: seqs.get(step)! };
  });
  const running = folded.filter(({ status }) => status === "running");
  const current = running.reduce<StepDoc | null>((best, step) => (best && best.seq > step.seq ? best : step), null);
  const writes = new PayloadWrites();
  const keep = (field: "input" | "metadata" | "output") => {
    const payload = job[field] ?? null;
    return { [field]: payload === null || isStored(payload) ? payload : writes.keep(jobId, payload) };
  };
  const own = { ...keep("input"), ...keep("metadata"), ...keep("output") };
  if (writes.docs.length > 0) await payloads.insertMany(writes.docs);
  const set = {
    ...own,
    // Versions before 2 stored these two with a lag of up to a minute.
    ...{ updatedAt: later(job.updatedAt, job.lastReportAt), staleAt: staleAt(job, staleAfterSeconds) },
    ...{ current, seq: folded.length },
    // a Map keeps its order, also where keys look like numbers
    ...(folded.length > 0 && { steps: new Map(folded.map((step) => [fieldOf(step.stepKey), step])) }),
  };
  const update = { $set: set, $unset: { currentKnown: 1, rev: 1 } } as unknown as mongo.UpdateFilter<OldJobDoc>;
  await old.updateOne({ _id, seq: { $exists: false } }, update);
}

/** Copies an output under the id of its step, so that a repetition does not copy it twice. */
async function copyOutput(
  _id: mongo.ObjectId,
  jobId: string,
  steps: mongo.Collection<OldStepDoc>,
  payloads: mongo.Collection<PayloadDoc>,
): Promise<void> {
  const step = await steps.findOne({ _id }, { projection: { output: 1 } });
  if (step?.output) await payloads.updateOne({ _id }, { $setOnInsert: { jobId, text: step.output } }, { upsert: true });
}

type WithoutOutput = Omit<OldStepDoc, "output"> & { length: number };

const reportedAt = (step: WithoutOutput): number => step.reportedAt ?? step.updatedAt.getTime();

/** The step with the newest report on it, which its job may hold alone. */
function upToDate(step: WithoutOutput, current: OldJobDoc["current"]): WithoutOutput {
  const isBehind = current?.stepId === step.stepId && (current.reportedAt ?? 0) > (step.reportedAt ?? 0);
  return isBehind ? { ...step, ...current, endedAt: null } : step;
}

const staleAt = (job: OldJobDoc, staleAfterSeconds: number): Date | null =>
  job.status === "running"
    ? new Date((job.lastReportAt ?? job.createdAt).getTime() + staleAfterMs(job, staleAfterSeconds))
    : null;

const later = (one: Date, other: Date | null): Date => (other !== null && other > one ? other : one);
