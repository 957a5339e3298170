import type { mongo } from "mongoose";
import type { Documents } from "../db/documents.ts";
import { type DeliveryDoc, type DueDelivery, NEXT_OF_LANE } from "./delivery.ts";

/**
 * Lists the next delivery of each lane that has waited since before a time, or whose worker's lease has expired.
 * @param free matches deliveries that no worker holds
 */
export function listDue(
  collection: Documents<DeliveryDoc>,
  free: mongo.Filter<DeliveryDoc>,
  now: Date,
  before: Date,
): AsyncIterable<DueDelivery> {
  const first = (field: string) => ({ $first: `$${field}` });
  const fields = { id: first("_id"), channel: first("channel"), lease: first("lease") };
  const pipeline = [
    { $match: { open: true } },
    { $sort: { lane: 1, order: 1 } },
    { $group: { _id: "$lane", ...fields, createdAt: first("createdAt"), notBefore: first("notBefore") } },
    {
      $match: {
        createdAt: { $lt: before },
        $and: [{ $or: [{ notBefore: null }, { notBefore: { $lte: now } }] }, free],
      },
    },
    { $project: { _id: "$id", channel: 1, lease: 1, notBefore: 1 } },
  ];
  return collection.aggregateStream<DueDelivery>(pipeline, { hint: NEXT_OF_LANE });
}
