import type { mongo } from "mongoose";
import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import { readAll } from "../db/readAll.ts";
import type { Stores } from "../stores.ts";
import { MAIL_RUN, type RunDoc } from "./run.ts";

const BATCH = 500;
const DAY_MS = 86_400_000;

/**
 * Deletes one batch of deliveries that ended before a time.
 * @returns how many were deleted; 0 when there are none left
 */
export async function deleteEndedDeliveries({ deliveries }: Stores, before: Date): Promise<number> {
  const ended = { open: false, endedAt: { $lt: before } };
  const batch = await readAll(deliveries.collection, ended, { projection: { _id: 1 }, limit: BATCH });
  return deliveries.delete({ ...ended, _id: { $in: batch.map(({ _id }) => _id) } });
}

/**
 * Deletes one batch of runs that ended before a time: those of whose end all is written that follows from it, with no delivery
 * left and no transcript of a session of their own.
 * @returns how many were deleted; 0 when there are none left
 */
export async function deleteEndedRuns(stores: Stores, before: Date): Promise<number> {
  const { runs, deliveries } = stores;
  const ended: mongo.Filter<RunDoc> = {
    settled: true,
    endedAt: { $lt: before },
    $and: [{ $or: [{ singleUse: false }, { forgotten: true }] }, ...(await knownMails(stores))],
  };
  const batch = await readFromCaughtUpPrimary(runs.collection, () =>
    runs.collection
      .aggregate<Pick<RunDoc, "_id">>([
        { $match: ended },
        {
          $lookup: {
            from: deliveries.collection.collectionName,
            ...{ localField: "_id", foreignField: "runId", as: "deliveries" },
            pipeline: [{ $limit: 1 }, { $project: { _id: 1 } }],
          },
        },
        { $match: { deliveries: [] } },
        { $limit: BATCH },
        { $project: { _id: 1 } },
      ])
      .toArray(),
  );
  return runs.delete({ ...ended, _id: { $in: batch.map(({ _id }) => _id) } });
}

/**
 * Leaves out the runs by which a listener would know the mails that it has taken: when Gmail has forgotten the history since
 * its last look, it looks through those that came from a day before the newest of them on, however long ago that is.
 */
async function knownMails({ gmailMailboxes }: Stores): Promise<mongo.Filter<RunDoc>[]> {
  const mailboxes = await readAll(gmailMailboxes.collection, {}, { sort: { listedAt: -1 } });
  return mailboxes.map(({ newestMailAt, lastMailAt }, i) => {
    const from = new Date((newestMailAt?.getTime() ?? 0) - 2 * DAY_MS);
    // what comes after the last mail of a mailbox that is no longer listened to is another one's
    const until = i > 0 && { $lte: new Date((lastMailAt?.getTime() ?? 0) + DAY_MS) };
    return { $nor: [{ _id: MAIL_RUN, createdAt: { $gte: from, ...until } }] };
  });
}
