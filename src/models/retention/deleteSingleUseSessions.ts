import type { RunDoc } from "../runs/run.ts";
import type { Stores } from "../stores.ts";

/** Maximum sessions that one call deletes. */
const BATCH_SIZE = 200;

/**
 * Deletes one batch of sessions that were created for a single run and have not been used since a time, with their transcripts.
 * The runs stay. Sessions that a later run has continued stay too, and those to which an open job returns.
 * @returns the number of runs whose sessions were handled; 0 if none are left
 */
export async function deleteSingleUseSessions(stores: Stores, before: Date): Promise<number> {
  const { runs, messages, sessions, jobs } = stores;
  const idle = { singleUse: true, forgotten: false, endedAt: { $lt: before } };
  const none = (from: string, foreignField: string, condition: object) => [
    {
      $lookup: {
        from,
        localField: "sessionKey",
        foreignField,
        as: "found",
        pipeline: [{ $match: condition }, { $limit: 1 }, { $project: { _id: 1 } }],
      },
    },
    { $match: { found: [] } },
  ];
  const old = await runs.collection.aggregate<Pick<RunDoc, "_id" | "sessionKey">>([
    { $match: idle },
    { $project: { sessionKey: 1 } },
    ...none(jobs.collection.name, "returnTo.sessionKey", { status: "running" }),
    // A return, which has the session of the run that started the job, may be newer than that run.
    ...none(runs.collection.name, "sessionKey", {
      singleUse: true,
      $or: [{ open: true }, { endedAt: { $gte: before } }],
    }),
    { $limit: BATCH_SIZE },
  ]);
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
