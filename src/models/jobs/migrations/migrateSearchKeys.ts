import { isDeepStrictEqual } from "node:util";
import type { mongo } from "mongoose";
import type { Documents } from "../../db/documents.ts";
import { inBatches } from "../../db/inBatches.ts";
import { nameKey, nameWords } from "../../db/nameSearch.ts";
import { unpackObject } from "../freeObject.ts";
import type { JobDoc } from "../job.ts";
import { isStored, type Payload, type PayloadDoc } from "../payloads.ts";
import { type SearchTerm, searchTerms } from "../search/searchKeys.ts";

/** Matches the jobs whose name or terms earlier versions may have stored in another form. Scans three indexes. */
const MAY_BE_FORMER: mongo.Filter<JobDoc> = {
  $or: [
    { nameKey: /[^\0-\x7f]/ },
    { metadataTerms: /=[\s\S]*=/ },
    { nameWords: { $exists: false }, name: { $type: "string" } },
  ],
};

/** Maximum jobs that one command updates. Each has up to 32 KiB of metadata in it. */
const BATCH_SIZE = 100;

type FormerJob = Pick<JobDoc, "_id" | "jobId" | "name" | "nameKey" | "nameWords" | "metadata" | "metadataTerms">;

/**
 * Rewrites what the search for jobs compares, where earlier versions stored it in another form. May be interrupted and repeated,
 * also while processes serve: a job that changes meanwhile stays as it is.
 * @returns the number of rewritten jobs
 */
export async function migrateSearchKeys(jobs: Documents<JobDoc>, payloads: Documents<PayloadDoc>): Promise<number> {
  const projection = { jobId: 1, name: 1, nameKey: 1, nameWords: 1, metadata: 1, metadataTerms: 1 };
  let rewritten = 0;
  for await (const batch of inBatches(jobs.find<FormerJob>(MAY_BE_FORMER, { projection }), BATCH_SIZE)) {
    const updates: mongo.AnyBulkWriteOperation<JobDoc>[] = [];
    for (const job of batch) {
      const update = await updateOf(job, payloads);
      if (update) updates.push({ updateOne: update });
    }
    if (updates.length > 0) rewritten += (await jobs.bulkWrite(updates, { ordered: false })).modifiedCount;
  }
  return rewritten;
}

/** Returns the update of a job in the former form, or undefined if the job is in the present one. */
async function updateOf({ _id, name, metadata, ...stored }: FormerJob, payloads: Documents<PayloadDoc>) {
  const terms = await termsOf(stored.jobId, metadata, stored.metadataTerms, payloads);
  const set = {
    nameKey: name == null ? stored.nameKey : nameKey(name),
    nameWords: nameWords(name ?? ""),
    metadataTerms: terms,
  };
  const { nameKey: key, nameWords: words, metadataTerms } = stored;
  const isPresent = isDeepStrictEqual(set, { nameKey: key, nameWords: words, metadataTerms });
  return isPresent ? undefined : { filter: { _id, name, metadata }, update: { $set: set } };
}

async function termsOf(
  jobId: string,
  metadata: Payload | null,
  stored: SearchTerm[],
  payloads: Documents<PayloadDoc>,
): Promise<SearchTerm[]> {
  if (!stored.some((term) => typeof term === "string" && term.indexOf("=") !== term.lastIndexOf("="))) return stored;
  const text = isStored(metadata) ? (await payloads.findOne({ jobId, _id: metadata.payload }))?.text : metadata;
  return text == null ? stored : searchTerms(unpackObject(text)); // A newer write has replaced the payload.
}
