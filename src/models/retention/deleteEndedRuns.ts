import type { mongo } from "mongoose";
import type { DeliveryDoc } from "../deliveries/delivery.ts";
import { keepThreadLinks } from "../deliveries/threads.ts";
import { deleteRequestsOf } from "../intake/deleteHookRequests.ts";
import { MAIL_RUN, type RunDoc } from "../runs/run.ts";
import type { Stores } from "../stores.ts";

/** Maximum records that one call deletes. */
const BATCH_SIZE = 500;
const DAY_MS = 86_400_000;

/**
 * Deletes one batch of deliveries that ended before a time. The sessions of replies that people may still answer are kept.
 * @returns the number of deleted deliveries; 0 if none are left
 */
export async function deleteEndedDeliveries(stores: Stores, before: Date, now: Date): Promise<number> {
  const { deliveries } = stores;
  const ended = { open: false, endedAt: { $lt: before }, notes: { $exists: false } };
  const projection = { refs: 1, sessionKey: 1, replaces: 1, order: 1, createdAt: 1 };
  const batch = await deliveries.collection.find<DeliveryDoc>(ended, { projection, limit: BATCH_SIZE });
  await keepThreadLinks(stores, batch, now);
  return deliveries.delete({ ...ended, _id: { $in: batch.map(({ _id }) => _id) } });
}

/**
 * Deletes one batch of runs that ended before a time: finalized ones, without deliveries, and without the transcript of a
 * single-use session. The kept requests that have no other runs are deleted too.
 * @returns the number of deleted runs; 0 if none are left
 */
export async function deleteEndedRuns(stores: Stores, before: Date): Promise<number> {
  const { runs, deliveries } = stores;
  const ended: mongo.Filter<RunDoc> = {
    finalized: true,
    endedAt: { $lt: before },
    notes: { $exists: false },
    $and: [{ $or: [{ singleUse: false }, { forgotten: true }] }, ...(await keptMailRuns(stores))],
  };
  const batch = await runs.collection.aggregate<Pick<RunDoc, "_id">>([
    { $match: ended },
    {
      $lookup: {
        from: deliveries.collection.name,
        localField: "_id",
        foreignField: "runId",
        as: "deliveries",
        pipeline: [{ $limit: 1 }, { $project: { _id: 1 } }],
      },
    },
    { $match: { deliveries: [] } },
    { $limit: BATCH_SIZE },
    { $project: { _id: 1 } },
  ]);
  const runIds = batch.map(({ _id }) => _id);
  const deleted = await runs.delete({ ...ended, _id: { $in: runIds } });
  await deleteRequestsOf(stores, runIds);
  return deleted;
}

/**
 * Returns conditions that keep the runs by which a listener recognizes mails that it has taken. Once Gmail has dropped the
 * history since the last listing, the listener goes through all mails from a day before the newest of them, however old
 * that is.
 */
async function keptMailRuns({ gmailMailboxes }: Stores): Promise<mongo.Filter<RunDoc>[]> {
  const mailboxes = await gmailMailboxes.collection.find({}, { sort: { listedAt: -1 } });
  return mailboxes.map(({ newestMailAt, lastMailAt }, i) => {
    const from = new Date((newestMailAt?.getTime() ?? 0) - 2 * DAY_MS);
    // Later mails belong to the next mailbox, if this one has no listener any more.
    const until = i > 0 && { $lte: new Date((lastMailAt?.getTime() ?? 0) + DAY_MS) };
    return { $nor: [{ _id: MAIL_RUN, createdAt: { $gte: from, ...until } }] };
  });
}
