import type { DeliveryDoc } from "./delivery.ts";
import type { DeliveryStores } from "./deliveryStores.ts";

/** Matches the deliveries that wait because the service of their channel refuses the credentials. */
const STOPPED = { open: true, channelStop: { $exists: true } };
const stoppedOn = (channel: string) => ({ ...STOPPED, channel });

/** Returns the channels that are stopped, as `GET /api/channels` shows them. */
export async function readStoppedChannels({
  deliveries: { collection },
}: DeliveryStores): Promise<ReadonlySet<string>> {
  return new Set(await collection.distinct("channel", STOPPED));
}

/**
 * Removes the stop of a channel from its pending deliveries, once its service accepts the credentials. They are due at once,
 * and the sweep enqueues them.
 */
export async function endChannelStop({ deliveries: { collection } }: DeliveryStores, channel: string): Promise<void> {
  const change = { $unset: { channelStop: "" as const }, $set: { notBefore: null } };
  await collection.updateMany(stoppedOn(channel), change);
}

/**
 * Makes the deliveries of a stopped channel due at once, as if each was retried by hand, so that they try the credentials. The
 * sweep enqueues them.
 * @returns the first of them, to be enqueued without waiting for the sweep; null if the channel is not stopped
 */
export async function resumeChannel(
  { deliveries: { collection } }: DeliveryStores,
  channel: string,
  now: Date,
): Promise<Pick<DeliveryDoc, "_id"> | null> {
  const waiting = { ...stoppedOn(channel), lease: null };
  await collection.updateMany(waiting, { $set: { notBefore: null, since: now } });
  const first = { sort: { order: 1 }, projection: { _id: 1 } } as const;
  return collection.findOne(waiting, first);
}
