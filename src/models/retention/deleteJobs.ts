import type { mongo } from "mongoose";
import type { JobDoc, Status } from "../jobs/job.ts";
import { jobNotFound } from "../jobs/jobs.ts";
import { PAYLOAD_IDS } from "../jobs/payloads/payloadFields.ts";
import { type JobFilter, jobQuery } from "../jobs/search/jobFilter.ts";
import type { Stores } from "../stores.ts";

/** Maximum records that one command reads or deletes. */
const BATCH_SIZE = 500;

/** A job to delete, with the ids of its stored payloads. `openGates` exists if the job ever had a gate. */
type JobToDelete = Pick<JobDoc, "_id" | "jobId" | "parentJobId" | "notes" | "openGates"> & {
  readonly payloadIds: readonly mongo.ObjectId[];
};

/** Deletes a job and its steps. @throws AppError job_not_found, unavailable */
export async function deleteJob(stores: Stores, jobId: string): Promise<void> {
  for (;;) {
    const batch = await findBatch(stores, { jobId });
    if (batch.length === 0) throw jobNotFound(jobId);
    // A job that gets another note between the read and the deletion stays for the next attempt.
    if ((await deleteBatch(stores, batch, {})) > 0) return;
  }
}

/**
 * Deletes every job that matches the filter, with its steps. Jobs that are created during the deletion stay, so that it ends
 * even if clients create jobs all the time.
 * @returns the number of deleted jobs
 */
export async function deleteJobs(stores: Stores, filter: JobFilter, now: Date): Promise<number> {
  const newest = { projection: { createdAt: 1 }, sort: { createdAt: -1 }, limit: 1 } as const;
  const [last] = await stores.jobs.collection.find({}, newest);
  if (!last) return 0;
  // The bound is the newest job's time, because the clock of the process that created it may be ahead of this one's.
  const query = { $and: [jobQuery(filter, now), { createdAt: { $lte: last.createdAt } }] };
  for (let deleted = 0; ; ) {
    const batch = await findBatch(stores, query);
    if (batch.length === 0) return deleted;
    deleted += await deleteBatch(stores, batch, query);
  }
}

/**
 * Deletes one batch of jobs that ended in a status before a time.
 * @returns the number of deleted jobs; 0 if none are left
 */
export async function deleteEndedBefore(
  stores: Stores,
  status: Exclude<Status, "running">,
  time: Date,
): Promise<number> {
  const query = { status, endedAt: { $lt: time }, notes: { $exists: false } };
  const batch = await findBatch(stores, query);
  return batch.length === 0 ? 0 : deleteBatch(stores, batch, query);
}

function findBatch({ jobs }: Stores, query: mongo.Filter<JobDoc>): Promise<JobToDelete[]> {
  const projection = { jobId: 1, parentJobId: 1, openGates: 1, payloadIds: PAYLOAD_IDS, "notes.id": 1 };
  return jobs.collection.find<JobToDelete>(query, { projection, limit: BATCH_SIZE });
}

/**
 * Deletes jobs before their payloads, logs and gates, so that a crash in between leaves only those, which no reader sees. Jobs
 * with notes are kept in the outbox, and their payloads for a while, until the notes are dispatched.
 */
async function deleteBatch(
  stores: Stores,
  batch: readonly JobToDelete[],
  query: mongo.Filter<JobDoc>,
): Promise<number> {
  const noted = batch.filter(({ notes }) => notes !== undefined);
  await stores.outbox.keep(noted.map(({ _id }) => _id));
  const kept = noted.flatMap(({ notes = [] }) => notes.map(({ id }) => id));
  const hasNoOther = { notes: { $not: { $elemMatch: { id: { $nin: kept } } } } };
  const deletedCount = await stores.jobs.delete(batch, { $and: [query, hasNoOther] });
  const deleted = deletedCount === batch.length ? batch : await withoutExisting(stores, batch);
  await stores.logs.deleteOf(deleted.map(({ _id }) => _id));
  const withoutNotes = deleted.filter(({ notes }) => notes === undefined);
  await stores.payloads.delete(
    withoutNotes.map(({ jobId }) => jobId),
    withoutNotes.flatMap(({ payloadIds }) => payloadIds),
  );
  await stores.gates.deleteOf(deleted.filter(({ openGates }) => openGates));
  return deletedCount;
}

/** Returns the jobs of a batch that are deleted: one with a newer note stays for the next attempt. */
async function withoutExisting({ jobs }: Stores, batch: readonly JobToDelete[]): Promise<JobToDelete[]> {
  const ids = batch.map(({ _id }) => _id);
  const left = await jobs.collection.find({ _id: { $in: ids } }, { projection: { _id: 1 } });
  const existing = new Set(left.map(({ _id }) => _id.toHexString()));
  return batch.filter(({ _id }) => !existing.has(_id.toHexString()));
}
