import type { Documents } from "../db/documents.ts";
import { inBatches } from "../db/inBatches.ts";
import { nameWords } from "../db/nameSearch.ts";
import type { RunDoc } from "./run.ts";

/** Maximum runs that one command updates. */
const BATCH_SIZE = 1_000;

/**
 * Stores the words of the names of runs that earlier versions accepted. May be interrupted and repeated, also while processes
 * serve: a run whose name changes meanwhile stays as it is.
 * @returns the number of changed runs
 */
export async function migrateRunNames(runs: Documents<RunDoc>): Promise<number> {
  const former = { nameWords: { $exists: false }, name: { $type: "string" as const } };
  let changed = 0;
  for await (const batch of inBatches(runs.find(former, { projection: { name: 1 } }), BATCH_SIZE)) {
    const updates = batch.map(({ _id, name }) => ({
      updateOne: { filter: { _id, name }, update: { $set: { nameWords: nameWords(name ?? "") } } },
    }));
    changed += (await runs.bulkWrite(updates, { ordered: false })).modifiedCount;
  }
  return changed;
}
