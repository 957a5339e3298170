import type { Stores } from "../stores.ts";

/** Maximum sessions that one call deletes. */
const BATCH_SIZE = 200;

/**
 * Deletes one batch of sessions that were created for a single run and have not been used since a time, with their transcripts.
 * The runs stay. Sessions that a later run has continued stay too.
 * @returns the number of runs whose sessions were handled; 0 if none are left
 */
export async function deleteSingleUseSessions({ runs, messages, sessions }: Stores, before: Date): Promise<number> {
  const idle = { singleUse: true, forgotten: false, endedAt: { $lt: before } };
  const old = await runs.collection.find(idle, { projection: { sessionKey: 1 }, limit: BATCH_SIZE });
  if (old.length === 0) return 0;
  const keys = old.map((run) => run.sessionKey);
  const continued = await runs.collection.distinct("sessionKey", { sessionKey: { $in: keys }, singleUse: false });
  const unused = keys.filter((key) => !continued.includes(key));
  await messages.deleteOf(unused);
  await sessions.deleteIdle(unused);
  // A run that was retried meanwhile no longer matches `idle`: its transcript is yet to be written.
  const unchanged = { ...idle, _id: { $in: old.map((run) => run._id) } };
  await runs.collection.updateMany(unchanged, { $set: { forgotten: true } });
  return old.length;
}
