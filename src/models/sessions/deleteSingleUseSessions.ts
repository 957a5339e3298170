import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { mapMongoErrors } from "../db/mongoErrors.ts";
import { readAll } from "../db/readAll.ts";
import type { Stores } from "../stores.ts";

const BATCH = 200;

/**
 * Deletes one batch of transcripts of sessions that were made for one run and have not been used since a time. The runs
 * stay. A session that a later run goes on with is no longer of single use.
 * @returns how many sessions were forgotten; 0 when there are none left
 */
export async function deleteSingleUseSessions({ runs, messages, sessions }: Stores, before: Date): Promise<number> {
  const idle = { singleUse: true, forgotten: false, endedAt: { $lt: before } };
  const old = await readAll(runs.collection, idle, { projection: { sessionKey: 1 }, limit: BATCH });
  if (old.length === 0) return 0;
  const keys = old.map((run) => run.sessionKey);
  const continued = await readFromCaughtUpPrimary(runs.collection, () =>
    runs.collection.distinct("sessionKey", { sessionKey: { $in: keys }, singleUse: false }),
  );
  const unused = keys.filter((key) => !continued.includes(key));
  await messages.deleteOf(unused);
  await sessions.deleteIdle(unused);
  // one that was begun anew meanwhile has a transcript to come
  const those = { ...idle, _id: { $in: old.map((run) => run._id) } };
  await mapMongoErrors(() => runs.collection.updateMany(those, { $set: { forgotten: true } }));
  return old.length;
}
