import type { Clock } from "../../shared/clock.ts";
import type { ListingRequests } from "../api/listingRequests.ts";
import type { PubSub } from "../api/pubsub.ts";
import type { HeldMailbox } from "./heldMailbox.ts";

type Pulled = Awaited<ReturnType<PubSub["pull"]>>[number];

const AT_ONCE = 100;
/** Pub/Sub answers an empty pull when it likes; it is not to be asked without end. */
const LEAST_EMPTY_MS = 1_000;

export interface NoticesDeps {
  readonly mailbox: HeldMailbox;
  readonly subscription: string;
  readonly listings: ListingRequests;
  readonly clock: Clock;
}

/**
 * Waits for notices, has the mailbox listed for those that are news, and acknowledges what the cursor covers by then, and what
 * is none of this mailbox's. What is not acknowledged comes again.
 * @returns how long to wait before the next pull
 */
export async function takeNotices(deps: NoticesDeps, pubsub: PubSub, signal: AbortSignal): Promise<number> {
  const { mailbox, subscription, listings, clock } = deps;
  const began = performance.now();
  const pulled = await pubsub.pull(subscription, AT_ONCE, signal);
  if (pulled.length === 0) return performance.now() - began < LEAST_EMPTY_MS ? LEAST_EMPTY_MS : 0;
  const { _id: account } = mailbox.state;
  const own = pulled.filter(({ notice }) => notice?.emailAddress.toLowerCase() === account);
  const isCovered = ({ notice }: Pulled) => BigInt(notice?.historyId ?? 0) <= BigInt(mailbox.state.cursor ?? 0);
  if (own.length > 0) await mailbox.note({ lastNoticeAt: clock.now() });
  if (!own.every(isCovered)) await listings.made(signal);
  const done = pulled.filter((one) => !own.includes(one) || isCovered(one));
  await pubsub.acknowledge(
    subscription,
    done.map(({ ackId }) => ackId),
    signal,
  );
  return 0;
}
