import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import type { ReplyTarget } from "../sessions/session.ts";
import type { Stores } from "../stores.ts";
import type { DeliveryDoc } from "./delivery.ts";

/** The state of a channel and its deliveries. Times are ISO 8601 UTC with milliseconds. */
export interface ChannelView {
  channel: string;
  configured: boolean;
  /** The number of deliveries that wait or are being sent. */
  pending: number;
  /** The number of deliveries from the last 24 hours that failed. */
  failed: number;
  lastSentAt: string | null;
  /** The reason of the latest of these failures. */
  lastFailure: string | null;
}

const DAY_MS = 86_400_000;

/**
 * Returns all configured channels, and other channels with pending deliveries or failed ones from the last day.
 * @param initialReplyTarget the target of the main session's replies before it has a last recipient
 * @throws AppError unavailable
 */
export async function readChannels(
  { deliveries, sessions }: Stores,
  { channels, initialReplyTarget }: { channels: ReadonlySet<string>; initialReplyTarget: ReplyTarget | null },
  now: Date,
): Promise<{ channels: ChannelView[]; route: ReplyTarget | null }> {
  const since = new Date(now.getTime() - DAY_MS);
  const newest = { $sort: { createdAt: -1 } } as const;
  const perChannel = (fields: object) => ({ $group: { _id: "$channel", count: { $sum: 1 }, ...fields } });
  const aggregate = <T>(pipeline: object[]) =>
    readFromCaughtUpPrimary(deliveries.collection, () =>
      deliveries.collection.aggregate<{ _id: string; count: number } & T>(pipeline).toArray(),
    );
  const [pending, failed, sent, target] = await Promise.all([
    aggregate([{ $match: { open: true } }, perChannel({})]),
    aggregate<{ reason: string | null }>([
      { $match: { state: "failed", createdAt: { $gte: since } } },
      newest,
      perChannel({ reason: { $first: "$reason" } }),
    ]),
    aggregate<{ at: DeliveryDoc["sentAt"] }>([
      { $match: { state: "sent", createdAt: { $gte: since } } },
      perChannel({ at: { $max: "$sentAt" } }),
    ]),
    sessions.replyTarget(),
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
    })),
    route: target ?? initialReplyTarget,
  };
}
