import type { mongo } from "mongoose";
import type { DeliveryCounts } from "../../wire/delivery.ts";
import { countBy, MAX_COUNTED } from "../db/countBy.ts";
import type { Deliveries } from "./deliveries.ts";
import { type DeliveryDoc, type DeliveryState, OTHER_CHANNELS } from "./delivery.ts";
import type { DeliveryFilter } from "./readDeliveries.ts";

/** Counts the deliveries that match a filter by their state, at most `MAX_COUNTED` of them. */
export async function countDeliveries(
  { deliveries: { collection } }: { readonly deliveries: Deliveries },
  filter: Omit<DeliveryFilter, "state">,
): Promise<DeliveryCounts> {
  const counts = await countBy<DeliveryDoc, DeliveryState>(collection, countedDeliveries(filter), "state");
  const of = (state: DeliveryState) => counts.get(state) ?? 0;
  const total = of("pending") + of("sent") + of("failed");
  return {
    total: Math.min(total, MAX_COUNTED),
    pending: of("pending"),
    sent: of("sent"),
    failed: of("failed"),
    capped: total > MAX_COUNTED,
  };
}

/** Returns the query for the deliveries of a count, which an index serves. */
export function countedDeliveries({ rule, channel, kind }: Omit<DeliveryFilter, "state">): mongo.Filter<DeliveryDoc> {
  // The channel of what is no message is its kind, so that one index has all kinds.
  const ofKind = kind === "channel" ? { $nin: [...OTHER_CHANNELS] } : { $eq: kind };
  const conditions: mongo.Filter<DeliveryDoc>[] = [
    ...(rule === undefined ? [] : [{ "event.rule": rule }]),
    ...(channel === undefined ? [] : [{ channel }]),
    ...(kind === undefined ? [] : [{ channel: ofKind as mongo.Condition<string> }]),
  ];
  return conditions.length > 0 ? { $and: conditions } : { state: { $in: ["pending", "sent", "failed"] } };
}
