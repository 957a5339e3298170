import type { Clock } from "../../shared/clock.ts";
import type { ListingRequests } from "../api/listingRequests.ts";
import type { PubSub } from "../api/pubsub.ts";
import type { LeasedMailbox } from "./leasedMailbox.ts";

type Pulled = Awaited<ReturnType<PubSub["pull"]>>[number];

const MAX_MESSAGES = 100;
/** Pub/Sub answers an empty pull when it likes; it is not to be asked without end. */
const MIN_EMPTY_PULL_MS = 1_000;

export interface PullDeps {
  readonly mailbox: LeasedMailbox;
  readonly subscription: string;
  readonly listings: ListingRequests;
  readonly clock: Clock;
}

/**
 * Waits for notices, has the mailbox listed for those that are news, and acknowledges what the cursor covers by then, and what
 * is none of this mailbox's. What is not acknowledged comes again.
 * @returns how long to wait before the next pull
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
