import type { DeliveryDoc } from "./delivery.ts";
import type { DeliveryStores } from "./deliveryStores.ts";

/**
 * Why a worker cannot acquire a delivery: `over` if it has ended or another worker holds it, `waiting` if it is to be retried
 * later or another delivery of its lane comes first.
 */
export type DeliveryNotAcquired = "over" | "waiting";

/**
 * Acquires a delivery for a worker if it is its turn. The deliveries of a lane are sent one at a time, in the order of the
 * replies. The worker that ends a delivery enqueues the next one.
 * @throws AppError delivery_not_found, unavailable
 */
export async function acquireDelivery(
  { deliveries }: DeliveryStores,
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
