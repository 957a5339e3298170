import type { Channel } from "../../channels/channel.ts";
import type { Stores } from "../../models/stores.ts";
import type { Clock } from "../../shared/clock.ts";

/** How long the delivery of an end waits for an earlier edit of its message, before it looks again. */
const HELD_MS = 1_000;

/** The end of a job, and the message that follows the job. */
interface Ended {
  readonly live: string;
  /** The notification of the end. */
  readonly by: string;
}

/**
 * Returns a channel for the delivery of the end of a job: its first part replaces the text of the message that follows the job.
 * If that no longer exists, the part is a message of its own, as everything else that the channel sends.
 */
export function endedMessageChannel(
  channel: Channel,
  { stores, clock }: { readonly stores: Pick<Stores, "liveMessages">; readonly clock: Clock },
  { live, by }: Ended,
): Channel {
  return {
    ...channel,
    // A repeated edit changes nothing.
    ...(channel.editing && { idempotentForMs: Number.POSITIVE_INFINITY }),
    async send(message, signal) {
      const { editing } = channel;
      if (!editing || !message.key.endsWith("-0")) return channel.send(message, signal);
      const ended = await stores.liveMessages.findEnded(live, by, clock.now());
      if (ended.kind === "held") {
        const reason = "An earlier edit of the message is under way.";
        return { kind: "rate-limited", retryAfterMs: HELD_MS, scope: "recipient", reason };
      }
      if (ended.kind === "none") return channel.send(message, signal);
      const outcome = await editing.edit({ ...message, live: true }, ended.id, signal);
      return outcome.kind === "missing" ? channel.send(message, signal) : outcome;
    },
  };
}
