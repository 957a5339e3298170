import type { mongo } from "mongoose";
import type { JobDoc, Status } from "../job.ts";
import { type JobFilter, jobQuery } from "../jobFilter.ts";
import { jobNotFound } from "../jobs.ts";
import { readAll } from "../readAll.ts";
import type { JobRef } from "../step.ts";
import type { Stores } from "../stores.ts";

const BATCH = 500;

/** Deletes a job and its steps. @throws AppError job_not_found, unavailable */
export async function deleteJob(stores: Stores, jobId: string): Promise<void> {
  const job = { _id: await stores.jobs.findId(jobId), jobId };
  if ((await deleteBatch(stores, [job], {})) === 0) throw jobNotFound(jobId);
}

/**
 * Deletes every job that the filter fits, and their steps. What is created meanwhile stays: it would have no end where jobs
 * are created all the time.
 * @throws AppError unavailable
 */
export async function deleteJobs(stores: Stores, filter: JobFilter, now: Date): Promise<void> {
  const newest = { projection: { createdAt: 1 }, sort: { createdAt: -1 }, limit: 1 } as const;
  const [last] = await readAll(stores.jobs.collection, {}, newest);
  if (!last) return;
  // not a time of this process: the clock of the one that created a job may be ahead
  const query = { $and: [jobQuery(filter, stores.jobs.staleBy(now)), { createdAt: { $lte: last.createdAt } }] };
  for (;;) {
    const batch = await findBatch(stores, query);
    if (batch.length === 0) return;
    await deleteBatch(stores, batch, query);
  }
}

/**
 * Deletes one batch of jobs that ended in a status before a time.
 * @returns how many were deleted; 0 when there are none left
 */
export async function deleteEndedBefore(
  stores: Stores,
  status: Exclude<Status, "running">,
  time: Date,
): Promise<number> {
  const query = { status, endedAt: { $lt: time } };
  const batch = await findBatch(stores, query);
  return batch.length === 0 ? 0 : deleteBatch(stores, batch, query);
}

/**
 * Takes away what reports wrote to jobs in the moment of their deletion. `time` lies so far back that no request from
 * before it can still be under way.
 * @returns how many deletions it has seen to
 */
export async function cleanUpDeletions(stores: Stores, time: Date): Promise<number> {
  const due = await stores.deletions.findBefore(time, BATCH);
  if (due.length === 0) return 0;
  await deleteStepsOfGone(stores, due);
  await stores.deletions.remove(due);
  return due.length;
}

function findBatch({ jobs }: Stores, query: mongo.Filter<JobDoc>): Promise<JobRef[]> {
  return readAll(jobs.collection, query, { projection: { jobId: 1 }, limit: BATCH });
}

/** Deletes those of the jobs that the query still fits: one that changed meanwhile stays. */
async function deleteBatch(stores: Stores, batch: readonly JobRef[], query: mongo.Filter<JobDoc>): Promise<number> {
  await stores.deletions.record(batch);
  const deletedCount = await stores.jobs.delete(batch, query);
  await deleteStepsOfGone(stores, batch);
  return deletedCount;
}

async function deleteStepsOfGone({ jobs, steps }: Stores, batch: readonly JobRef[]): Promise<void> {
  const ids = batch.map((job) => job._id);
  const alive = await readAll(jobs.collection, { _id: { $in: ids } }, { projection: { _id: 1 } });
  const still = new Set(alive.map((job) => job._id.toHexString()));
  const gone = batch.filter((job) => !still.has(job._id.toHexString()));
  if (gone.length > 0) await steps.deleteOf(gone);
}
