import type { mongo } from "mongoose";
import { nameWords } from "../db/nameSearch.ts";
import type { RunDoc } from "./run.ts";

/** Maximum runs that one command updates. */
const BATCH_SIZE = 1_000;

/**
 * Stores the words of the names of runs that earlier versions accepted. May be interrupted and repeated, also while processes
 * serve: a run whose name changes meanwhile stays as it is.
 * @returns the number of changed runs
 */
export async function migrateRunNames(runs: mongo.Collection<RunDoc>): Promise<number> {
  let updates: mongo.AnyBulkWriteOperation<RunDoc>[] = [];
  let changed = 0;
  const write = async () => {
    if (updates.length > 0) changed += (await runs.bulkWrite(updates, { ordered: false })).modifiedCount;
    updates = [];
  };
  const former = { nameWords: { $exists: false }, name: { $type: "string" as const } };
  for await (const { _id, name } of runs.find(former, { projection: { name: 1 } })) {
    updates.push({ updateOne: { filter: { _id, name }, update: { $set: { nameWords: nameWords(name ?? "") } } } });
    if (updates.length === BATCH_SIZE) await write();
  }
  await write();
  return changed;
}
