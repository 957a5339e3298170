import type { Clock } from "../../shared/clock.ts";
import type { ListingRequests } from "../api/listingRequests.ts";
import type { PubSub } from "../api/pubsub.ts";
import type { LeasedMailbox } from "./leasedMailbox.ts";

type Pulled = Awaited<ReturnType<PubSub["pull"]>>[number];

const MAX_MESSAGES = 100;
/** Minimum duration of an empty pull including the pause after it; Pub/Sub may end empty pulls at once. */
const MIN_EMPTY_PULL_MS = 1_000;

export interface PullDeps {
  readonly mailbox: LeasedMailbox;
  readonly subscription: string;
  readonly listings: ListingRequests;
  readonly clock: Clock;
}

/**
 * Pulls notifications, requests a listing if one is newer than the cursor, and acknowledges those that the cursor covers
 * afterwards and those of other mailboxes. Pub/Sub delivers the others again.
 * @returns the delay in milliseconds before the next pull
 */
export async function pullNotifications(deps: PullDeps, pubsub: PubSub, signal: AbortSignal): Promise<number> {
  const { mailbox, subscription, listings, clock } = deps;
  const startedAt = performance.now();
  const pulled = await pubsub.pull(subscription, MAX_MESSAGES, signal);
  if (pulled.length === 0) return performance.now() - startedAt < MIN_EMPTY_PULL_MS ? MIN_EMPTY_PULL_MS : 0;
  const { _id: account } = mailbox.state;
  const own = pulled.filter(({ notification }) => notification?.emailAddress.toLowerCase() === account);
  const isCovered = ({ notification }: Pulled) =>
    BigInt(notification?.historyId ?? 0) <= BigInt(mailbox.state.cursor ?? 0);
  if (own.length > 0) await mailbox.update({ lastNoticeAt: clock.now() });
  if (!own.every(isCovered)) await listings.requestListing(signal);
  const acknowledged = pulled.filter((one) => !own.includes(one) || isCovered(one));
  await pubsub.acknowledge(
    subscription,
    acknowledged.map(({ ackId }) => ackId),
    signal,
  );
  return 0;
}
