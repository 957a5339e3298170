import { mongo } from "mongoose";
import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { readAll } from "../db/readAll.ts";
import type { Stores } from "../stores.ts";
import type { JobDoc, Status } from "./job.ts";
import { type JobFilter, jobQuery } from "./jobFilter.ts";
import { jobNotFound, PAYLOAD_IDS } from "./jobs.ts";

const BATCH = 500;

/** A job that is to be deleted, with the ids of its stored payloads. */
type JobToDelete = Pick<JobDoc, "_id" | "jobId"> & { readonly payloadIds: readonly mongo.ObjectId[] };

/** Deletes a job and its steps. @throws AppError job_not_found, unavailable */
export async function deleteJob(stores: Stores, jobId: string): Promise<void> {
  const batch = await findBatch(stores, { jobId });
  if ((await deleteBatch(stores, batch, {})) === 0) throw jobNotFound(jobId);
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
  const query = { $and: [jobQuery(filter, now), { createdAt: { $lte: last.createdAt } }] };
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

function findBatch({ jobs }: Stores, query: mongo.Filter<JobDoc>): Promise<JobToDelete[]> {
  const projection = { jobId: 1, payloadIds: PAYLOAD_IDS };
  return readFromCaughtUpPrimary(jobs.collection, () =>
    jobs.collection.find<JobToDelete>(query, { projection, limit: BATCH }).toArray(),
  );
}

/** Deletes jobs and then their payloads: a crash in between leaves nothing that a reader sees. */
async function deleteBatch(
  stores: Stores,
  batch: readonly JobToDelete[],
  query: mongo.Filter<JobDoc>,
): Promise<number> {
  const deletedCount = await stores.jobs.delete(batch, query);
  const stored = batch.filter(({ payloadIds }) => payloadIds.length > 0);
  if (stored.length === 0) return deletedCount;
  const ids = stored.map(({ _id }) => _id);
  const left = await readAll(stores.jobs.collection, { _id: { $in: ids } }, { projection: { _id: 1 } });
  const still = new Set(left.map(({ _id }) => _id.toHexString()));
  const gone = stored.filter(({ _id }) => !still.has(_id.toHexString()));
  await stores.payloads.delete(
    gone.map(({ jobId }) => jobId),
    gone.flatMap(({ payloadIds }) => payloadIds),
  );
  return deletedCount;
}

/** How long before the sweep a payload must have been written: a report may still be about to refer to it. */
const UNUSED_AFTER_MS = 10 * 60_000;
/** How long payloads are compared with the steps of their jobs, which is dearer than to see that a job is gone. */
const YOUNG_MS = 3 * 3_600_000;

/**
 * Deletes stored payloads that no job refers to: a process died between two writes, or a report came in the moment in which
 * its job was deleted. One that was replaced in the moment of a crash goes with its job.
 * @returns how many were deleted
 * @throws AppError unavailable
 */
export async function deleteUnusedPayloads(stores: Stores, now: Date, signal?: AbortSignal): Promise<number> {
  const { payloads, jobs } = stores;
  const before = idAt(new Date(now.getTime() - UNUSED_AFTER_MS));
  const young = idAt(new Date(now.getTime() - YOUNG_MS));
  let deleted = 0;
  let after: { jobId: string; _id: mongo.ObjectId } | undefined;
  while (!signal?.aborted) {
    const next = after
      ? { $or: [{ jobId: after.jobId, _id: { $gt: after._id } }, { jobId: { $gt: after.jobId } }] }
      : {};
    const batch = await readAll(payloads.collection, next, {
      ...{ projection: { jobId: 1 }, sort: { jobId: 1, _id: 1 }, limit: BATCH, hint: { jobId: 1, _id: 1 } },
    });
    after = batch.at(-1);
    if (!after) break;
    const old = batch.filter(({ _id }) => _id.toHexString() < before);
    const used = await usedPayloads(jobs.collection, old, young);
    const unused = old.filter((one) => !used(one));
    await payloads.delete(
      unused.map(({ jobId }) => jobId),
      unused.map(({ _id }) => _id),
    );
    deleted += unused.length;
  }
  return deleted;
}

type Stored = { readonly jobId: string; readonly _id: mongo.ObjectId };

/** Returns what tells whether a job refers to a payload. */
async function usedPayloads(
  collection: mongo.Collection<JobDoc>,
  batch: readonly Stored[],
  young: string,
): Promise<(one: Stored) => boolean> {
  const isYoung = ({ _id }: Stored) => _id.toHexString() >= young;
  const jobIds = [...new Set(batch.map(({ jobId }) => jobId))];
  const withYoung = [...new Set(batch.filter(isYoung).map(({ jobId }) => jobId))];
  const [found, referring] = await Promise.all([
    readAll(collection, { jobId: { $in: jobIds } }, { projection: { _id: 0, jobId: 1 } }),
    readFromCaughtUpPrimary(collection, () =>
      collection
        .aggregate<{ payloadIds: mongo.ObjectId[] }>([
          { $match: { jobId: { $in: withYoung } } },
          { $project: { payloadIds: PAYLOAD_IDS } },
        ])
        .toArray(),
    ),
  ]);
  const existing = new Set(found.map(({ jobId }) => jobId));
  const ids = new Set(referring.flatMap(({ payloadIds }) => payloadIds.map((id) => id.toHexString())));
  return (one) => existing.has(one.jobId) && (!isYoung(one) || ids.has(one._id.toHexString()));
}

/** The least id that MongoDB's driver makes at a time, in hexadecimal. */
const idAt = (time: Date): string => mongo.ObjectId.createFromTime(Math.floor(time.getTime() / 1_000)).toHexString();
