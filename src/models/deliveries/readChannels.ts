import type { Channel, ReplyTarget } from "../../wire/channel.ts";
import { type DeliveryDoc, OTHER_CHANNELS } from "./delivery.ts";
import type { DeliveryStores } from "./deliveryStores.ts";

const DAY_MS = 86_400_000;

/**
 * Returns all configured channels, and other channels with pending deliveries or failed ones from the last day.
 * @param initialReplyTarget the target of the main session's replies before it has a last recipient
 */
export async function readChannels(
  { deliveries, sessions }: DeliveryStores,
  { channels, initialReplyTarget }: { channels: ReadonlySet<string>; initialReplyTarget: ReplyTarget | null },
  now: Date,
): Promise<{ channels: Channel[]; route: ReplyTarget | null }> {
  const since = new Date(now.getTime() - DAY_MS);
  const ofChats = { channel: { $nin: [...OTHER_CHANNELS] } };
  const newest = { $sort: { createdAt: -1 } } as const;
  const perChannel = (fields: object) => ({ $group: { _id: "$channel", count: { $sum: 1 }, ...fields } });
  const aggregate = <T>(pipeline: object[]) =>
    deliveries.collection.aggregate<{ _id: string; count: number } & T>(pipeline);
  const [pending, stopped, failed, sent, route] = await Promise.all([
    aggregate([{ $match: { ...ofChats, open: true } }, perChannel({})]),
    aggregate<{ since: Date; reason: string; nextTryAt: Date | null }>([
      { $match: { ...ofChats, open: true, channelStop: { $exists: true } } },
      { $sort: { notBefore: 1 } },
      perChannel({
        since: { $min: "$channelStop.since" },
        reason: { $first: "$channelStop.reason" },
        nextTryAt: { $first: "$notBefore" },
      }),
    ]),
    aggregate<{ reason: string | null }>([
      { $match: { ...ofChats, state: "failed", createdAt: { $gte: since } } },
      newest,
      perChannel({ reason: { $first: "$reason" } }),
    ]),
    aggregate<{ at: DeliveryDoc["sentAt"] }>([
      { $match: { ...ofChats, state: "sent", createdAt: { $gte: since } } },
      perChannel({ at: { $max: "$sentAt" } }),
    ]),
    sessions.currentReplyTarget(initialReplyTarget),
  ]);
  const names = new Set([...channels, ...[...pending, ...failed].map(({ _id }) => _id)]);
  const ofChannel = <T extends { _id: string }>(found: readonly T[], channel: string) =>
    found.find(({ _id }) => _id === channel);
  return {
    channels: [...names].sort().map((channel) => ({
      channel,
      configured: channels.has(channel),
      pending: ofChannel(pending, channel)?.count ?? 0,
      failed: ofChannel(failed, channel)?.count ?? 0,
      lastSentAt: ofChannel(sent, channel)?.at?.toISOString() ?? null,
      lastFailure: ofChannel(failed, channel)?.reason ?? null,
      state: ofChannel(stopped, channel) ? "stopped" : "ready",
      stoppedSince: ofChannel(stopped, channel)?.since.toISOString() ?? null,
      reason: ofChannel(stopped, channel)?.reason ?? null,
      nextTryAt: ofChannel(stopped, channel)?.nextTryAt?.toISOString() ?? null,
    })),
    route,
  };
}
