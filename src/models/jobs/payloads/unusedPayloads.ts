import { mongo } from "mongoose";
import type { Documents } from "../../db/documents.ts";
import type { ScanBatch } from "../../db/lease.ts";
import type { JobDoc } from "../job.ts";
import type { JobStores } from "../jobStores.ts";
import { PAYLOAD_IDS } from "./payloadFields.ts";

/** Maximum records that one command reads or deletes. */
const BATCH_SIZE = 500;

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
 * @param from where an earlier scan stopped
 * @yields the number of deleted payloads after each batch
 */
export async function* deleteUnusedPayloads(
  stores: JobStores,
  now: Date,
  from?: StoredPayload,
): AsyncGenerator<ScanBatch<StoredPayload>, void> {
  const { payloads, jobs } = stores;
  const before = idAt(new Date(now.getTime() - UNUSED_AFTER_MS));
  const young = idAt(new Date(now.getTime() - YOUNG_MS));
  let after = from;
  for (;;) {
    const next = after
      ? { $or: [{ jobId: after.jobId, _id: { $gt: after._id } }, { jobId: { $gt: after.jobId } }] }
      : {};
    const batch = await payloads.collection.find(next, {
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
    yield { deleted: unused.length, after };
  }
}

export type StoredPayload = { readonly jobId: string; readonly _id: mongo.ObjectId };

/** Returns a predicate: whether the job of a payload still needs it. */
async function usedPayloads(
  collection: Documents<JobDoc>,
  batch: readonly StoredPayload[],
  young: string,
): Promise<(one: StoredPayload) => boolean> {
  const isYoung = ({ _id }: StoredPayload) => _id.toHexString() >= young;
  const jobIds = [...new Set(batch.map(({ jobId }) => jobId))];
  const withYoung = [...new Set(batch.filter(isYoung).map(({ jobId }) => jobId))];
  const [found, referring] = await Promise.all([
    collection.find({ jobId: { $in: jobIds } }, { projection: { _id: 0, jobId: 1 } }),
    collection.aggregate<{ payloadIds: mongo.ObjectId[] }>([
      { $match: { jobId: { $in: withYoung } } },
      { $project: { payloadIds: PAYLOAD_IDS } },
    ]),
  ]);
  const existing = new Set(found.map(({ jobId }) => jobId));
  const ids = new Set(referring.flatMap(({ payloadIds }) => payloadIds.map((id) => id.toHexString())));
  return (one) => existing.has(one.jobId) && (!isYoung(one) || ids.has(one._id.toHexString()));
}

/** Returns the lowest ObjectId of a given second, in hexadecimal. */
const idAt = (time: Date): string => mongo.ObjectId.createFromTime(Math.floor(time.getTime() / 1_000)).toHexString();
