import type { mongo } from "mongoose";
import type { JobChange } from "../../wire/job.ts";
import type { ReceivedChange } from "./job.ts";

/*
 * Senders' events arrive late, twice and in any order. The order of an event is its place among those of its job or step: the
 * event with the greatest one decides the status, whenever it arrives. Events of a sender that states times have their time as
 * order, those of others a number that grows from running to ended.
 */

/** Returns whether an event is newer than all that have changed the status of a record. @param record its path */
export const isNewer = (record: string, order: number): mongo.Document => ({
  $gt: [order, { $ifNull: [`${record}.order`, -1] }],
});

/** Returns whether no newer event has set the message of a record. Events of one order follow each other as they arrive. */
export const maySetMessage = (record: string, order: number): mongo.Document => ({
  $gte: [order, { $ifNull: [`${record}.messageOrder`, -1] }],
});

/**
 * Returns the fields of a job's update, of which an event that comes late changes none that a newer one has set.
 * @param fields the fields as expressions; returned unchanged if the change has no order
 */
export function inOrder(
  { order, ...change }: Pick<ReceivedChange, "order"> & { readonly [K in keyof JobChange]?: unknown },
  fields: mongo.Document,
): mongo.Document {
  if (order === undefined) return fields;
  const newer = isNewer("$$ROOT", order);
  const changedIf = (condition: mongo.Document, ...names: string[]) =>
    Object.fromEntries(
      names.flatMap((name) => (name in fields ? [[name, { $cond: [condition, fields[name], `$${name}`] }]] : [])),
    );
  const { metadata } = fields;
  // Not every event of a run has all of the metadata.
  const isLarger = { $gte: [{ $bsonSize: { metadata } }, { $bsonSize: { metadata: "$metadata" } }] };
  return {
    ...fields,
    ...(change.status !== undefined && {
      ...changedIf(newer, "status", "endedAt", "endedBy", "startedAt", "cancel", "output", "waitedMs", "waitingSince"),
      ...(change.status === "completed" && changedIf(newer, "progress")),
      order: { $max: ["$order", order] },
    }),
    ...(change.message !== undefined && {
      ...changedIf(maySetMessage("$$ROOT", order), "message"),
      messageOrder: { $max: ["$messageOrder", order] },
    }),
    ...(change.metadata !== undefined && changedIf(isLarger, "metadata", "metadataTerms")),
    // An output is the only free object of an event that is large enough to be stored on its own.
    ...("replaced" in fields && {
      replaced: {
        $cond: [newer, { $setDifference: [[change.output === undefined ? null : "$output.payload"], [null]] }, []],
      },
    }),
  };
}
