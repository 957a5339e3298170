import type { ReplyTarget } from "../sessions/session.ts";
import type { NewDelivery } from "./delivery.ts";
import type { DeliveryStores } from "./deliveryStores.ts";

const FALLBACK_CHANNEL = "whatsapp";

const NO_REPLY_TARGET =
  "The main session has no reply target: set `session.main`, or run `signalbox route set CHANNEL TO`. " +
  `Until then its replies go to ${FALLBACK_CHANNEL}, which is not configured.`;

export interface DeliverySettings {
  /** The target of the main session's replies until a delivery or an operator sets another one. */
  readonly initialReplyTarget: ReplyTarget | null;
  /** The configured channels. */
  readonly channels: ReadonlySet<string>;
}

/** A reply, and its target as the sender of the request gave it. `channel` may be `last`. */
export interface WantedDelivery {
  readonly _id: string;
  readonly runId: string | null;
  /** The session of the reply; without it the main session. */
  readonly sessionKey?: string;
  readonly channel: string;
  readonly to: string | null;
  readonly text: string;
  readonly depth?: number | undefined;
}

/** A delivery to put on the queue of its channel, or one that failed at once for the reason in `fault`. */
export interface AddedDelivery {
  readonly deliveryId: string;
  readonly channel: string;
  readonly fault: string | null;
  /** Its priority in the queue; without it the highest. */
  readonly priority?: number;
}

/**
 * Creates the delivery of a reply. It fails at once if its channel is not configured or it has no recipient. A delivery
 * that exists already keeps its target, even if the main session has another one by now.
 */
export async function addDelivery(
  stores: Pick<DeliveryStores, "deliveries" | "sessions">,
  wanted: WantedDelivery,
  settings: DeliverySettings,
): Promise<AddedDelivery> {
  const { deliveries } = stores;
  const { channel, to, fault } = await resolveTarget(stores, wanted, settings);
  if (await deliveries.add({ ...wanted, channel, to, fault })) return { deliveryId: wanted._id, channel, fault };
  const existing = await deliveries.find(wanted._id);
  return {
    deliveryId: wanted._id,
    channel: existing.channel,
    fault: existing.state === "failed" ? existing.reason : null,
  };
}

/** Returns where a delivery goes, and why it fails at once, or null if it can be tried. */
export async function resolveTarget(
  { sessions }: Pick<DeliveryStores, "sessions">,
  wanted: Pick<WantedDelivery, "channel" | "to">,
  settings: DeliverySettings,
): Promise<Pick<NewDelivery, "channel" | "to" | "fault">> {
  const mainTarget = await sessions.currentReplyTarget(settings.initialReplyTarget);
  const channel = wanted.channel === "last" ? (mainTarget?.channel ?? FALLBACK_CHANNEL) : wanted.channel;
  const to = wanted.to?.trim() || recipientOn(channel, mainTarget);
  const hasNoTarget = wanted.channel === "last" && !mainTarget && !settings.channels.has(channel);
  return { channel, to, fault: hasNoTarget ? NO_REPLY_TARGET : deliveryFault(channel, to, settings.channels) };
}

/** Returns the recipient of the main session's replies if they are sent to this channel, otherwise null. */
export const recipientOn = (channel: string, target: ReplyTarget | null): string | null =>
  (target?.channel === channel && target.to.trim()) || null;

/** Returns why nothing can be delivered to a target, or null if it can be tried. */
export function deliveryFault(channel: string, to: string | null, channels: ReadonlySet<string>): string | null {
  if (!channels.has(channel)) return unconfigured(channel);
  if (to === null) return "No recipient is known: set `to`, or the reply target of the main session.";
  return null;
}

/** Returns the reason for a delivery to a channel that is not configured. */
export const unconfigured = (channel: string): string =>
  `The channel ${channel} is not configured: add channels.${channel}.`;
