import type { Stores } from "../stores.ts";
import type { DeliveryDoc } from "./delivery.ts";

/** Why a worker does not get a delivery: it is over or somebody else's; or another of its recipient comes first. */
export type DeliveryNotAcquired = "over" | "waiting";

/**
 * Takes a delivery for a worker when it is its turn: those to one recipient go one at a time, in the order of the replies.
 * One that has to wait is put on the queue again by whoever ends the one before.
 */
export async function acquireDelivery(
  { deliveries }: Stores,
  deliveryId: string,
  token: string,
  until: Date,
  now: Date,
): Promise<DeliveryDoc | DeliveryNotAcquired> {
  const delivery = await deliveries.find(deliveryId);
  if (!delivery.open) return "over";
  if (delivery.notBefore && delivery.notBefore > now) return "waiting";
  const next = await deliveries.findNext(delivery.lane);
  if (next?._id !== deliveryId) return "waiting";
  return (await deliveries.acquire(deliveryId, token, until)) ?? "over";
}
