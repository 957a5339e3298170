import type { AddedDelivery } from "../../models/deliveries/addDelivery.ts";
import type { Queues } from "../../shared/queue/producer.ts";
import type { WorkerMetrics } from "../metrics.ts";

export interface EnqueueDeps {
  readonly queues: Pick<Queues, "deliver">;
  readonly metrics: WorkerMetrics;
}

/** Puts a delivery that was added on the queue of its channel, or counts it if it failed at once. */
export async function enqueueDelivery(
  { queues, metrics }: EnqueueDeps,
  { fault, channel, deliveryId, priority = 0 }: AddedDelivery,
): Promise<void> {
  if (fault === null) await queues.deliver({ deliveryId, channel }, { priority });
  else metrics.deliveries.inc({ channel, outcome: "failed" });
}
