import { mongo } from "mongoose";
import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { readAll } from "../db/readAll.ts";
import type { Stores } from "../stores.ts";
import type { JobDoc, Status } from "./job.ts";
import { jobNotFound } from "./jobs.ts";
import { PAYLOAD_IDS } from "./payloadFields.ts";
import { type JobFilter, jobQuery } from "./search/jobFilter.ts";

/** Maximum records that one command reads or deletes. */
const BATCH_SIZE = 500;

/** A job to delete, with the ids of its stored payloads. `openGates` exists if the job ever had a gate. */
type JobToDelete = Pick<JobDoc, "_id" | "jobId" | "notes" | "openGates"> & {
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
 * @throws AppError unavailable
 */
export async function deleteJobs(stores: Stores, filter: JobFilter, now: Date): Promise<number> {
  const newest = { projection: { createdAt: 1 }, sort: { createdAt: -1 }, limit: 1 } as const;
  const [last] = await readAll(stores.jobs.collection, {}, newest);
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
  const projection = { jobId: 1, openGates: 1, payloadIds: PAYLOAD_IDS, "notes.id": 1 };
  return readFromCaughtUpPrimary(jobs.collection, () =>
    jobs.collection.find<JobToDelete>(query, { projection, limit: BATCH_SIZE }).toArray(),
  );
}

/**
 * Deletes jobs before their payloads and gates, so that a crash in between leaves only those, which no reader sees. Jobs
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
  const stored = batch.filter(({ payloadIds, openGates }) => payloadIds.length > 0 || openGates);
  if (stored.length === 0) return deletedCount;
  const ids = stored.map(({ _id }) => _id);
  const left = await readAll(stores.jobs.collection, { _id: { $in: ids } }, { projection: { _id: 1 } });
  const existing = new Set(left.map(({ _id }) => _id.toHexString()));
  const deleted = stored.filter(({ _id }) => !existing.has(_id.toHexString()));
  const withoutNotes = deleted.filter(({ notes }) => notes === undefined);
  await stores.payloads.delete(
    withoutNotes.map(({ jobId }) => jobId),
    withoutNotes.flatMap(({ payloadIds }) => payloadIds),
  );
  await stores.gates.deleteOf(deleted.filter(({ openGates }) => openGates));
  return deletedCount;
}

/** Minimum age of a payload that may be deleted: a report writes its payloads before the job that refers to them. */
const UNUSED_AFTER_MS = 10 * 60_000;
/**
 * Maximum age of payloads that are compared with the references in their jobs. Older ones are only checked for whether the job
 * exists, which costs less.
 */
const YOUNG_MS = 3 * 3_600_000;

/**
 * Deletes stored payloads that no job refers to. A process leaves them if it dies between two writes, a report if its job is
 * deleted at the same time. An old payload that a report replaced just before a crash stays until its
 * job is deleted.
 * @yields the number of deleted payloads after each batch
 * @throws AppError unavailable
 */
export async function* deleteUnusedPayloads(stores: Stores, now: Date): AsyncGenerator<number, void> {
  const { payloads, jobs } = stores;
  const before = idAt(new Date(now.getTime() - UNUSED_AFTER_MS));
  const young = idAt(new Date(now.getTime() - YOUNG_MS));
  let after: { jobId: string; _id: mongo.ObjectId } | undefined;
  for (;;) {
    const next = after
      ? { $or: [{ jobId: after.jobId, _id: { $gt: after._id } }, { jobId: { $gt: after.jobId } }] }
      : {};
    const batch = await readAll(payloads.collection, next, {
      projection: { jobId: 1 },
      sort: { jobId: 1, _id: 1 },
      limit: BATCH_SIZE,
      hint: { jobId: 1, _id: 1 },
    });
    after = batch.at(-1);
    if (!after) return;
    const old = batch.filter(({ _id }) => _id.toHexString() < before);
    const used = await usedPayloads(jobs.collection, old, young);
    const unused = old.filter((one) => !used(one));
    await payloads.delete(
      unused.map(({ jobId }) => jobId),
      unused.map(({ _id }) => _id),
    );
    yield unused.length;
  }
}

type StoredPayload = { readonly jobId: string; readonly _id: mongo.ObjectId };

/** Returns a predicate: whether the job of a payload still needs it. */
async function usedPayloads(
  collection: mongo.Collection<JobDoc>,
  batch: readonly StoredPayload[],
  young: string,
): Promise<(one: StoredPayload) => boolean> {
  const isYoung = ({ _id }: StoredPayload) => _id.toHexString() >= young;
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

/** Returns the lowest ObjectId of a given second, in hexadecimal. */
const idAt = (time: Date): string => mongo.ObjectId.createFromTime(Math.floor(time.getTime() / 1_000)).toHexString();
