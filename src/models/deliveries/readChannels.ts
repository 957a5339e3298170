import { readFromCaughtUpPrimary } from "../db/caughtUpPrimary.ts";
import type { ReplyTarget } from "../sessions/session.ts";
import type { Stores } from "../stores.ts";
import type { DeliveryDoc } from "./delivery.ts";

/** How deliveries to a channel go. Times are ISO 8601 UTC in milliseconds. */
export interface ChannelView {
  channel: string;
  configured: boolean;
  /** Deliveries that wait or are being sent. */
  pending: number;
  /** Deliveries made in the last 24 hours that have failed. */
  failed: number;
  lastSentAt: string | null;
  /** Why the latest of those failed. */
  lastFailure: string | null;
}

const DAY_MS = 86_400_000;

/**
 * Each channel that is configured, or that deliveries of the last day or waiting ones are for.
 * @param firstRoute where the main session's replies go before it has a last recipient
 * @throws AppError unavailable
 */
export async function readChannels(
  { deliveries, sessions }: Stores,
  { channels, firstRoute }: { channels: ReadonlySet<string>; firstRoute: ReplyTarget | null },
  now: Date,
): Promise<{ channels: ChannelView[]; route: ReplyTarget | null }> {
  const since = new Date(now.getTime() - DAY_MS);
  const newest = { $sort: { createdAt: -1 } } as const;
  const perChannel = (fields: object) => ({ $group: { _id: "$channel", count: { $sum: 1 }, ...fields } });
  const ask = <T>(pipeline: object[]) =>
    readFromCaughtUpPrimary(deliveries.collection, () =>
      deliveries.collection.aggregate<{ _id: string; count: number } & T>(pipeline).toArray(),
    );
  const [pending, failed, sent, route] = await Promise.all([
    ask([{ $match: { open: true } }, perChannel({})]),
    ask<{ reason: string | null }>([
      { $match: { state: "failed", createdAt: { $gte: since } } },
      newest,
      perChannel({ reason: { $first: "$reason" } }),
    ]),
    ask<{ at: DeliveryDoc["sentAt"] }>([
      { $match: { state: "sent", createdAt: { $gte: since } } },
      perChannel({ at: { $max: "$sentAt" } }),
    ]),
    sessions.route(),
  ]);
  const names = new Set([...channels, ...[...pending, ...failed].map(({ _id }) => _id)]);
  const of = <T extends { _id: string }>(found: readonly T[], channel: string) =>
    found.find(({ _id }) => _id === channel);
  return {
    channels: [...names].sort().map((channel) => ({
      channel,
      configured: channels.has(channel),
      pending: of(pending, channel)?.count ?? 0,
      failed: of(failed, channel)?.count ?? 0,
      lastSentAt: of(sent, channel)?.at?.toISOString() ?? null,
      lastFailure: of(failed, channel)?.reason ?? null,
    })),
    route: route ?? firstRoute,
  };
}
