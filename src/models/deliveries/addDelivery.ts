import type { ReplyTarget } from "../sessions/session.ts";
import type { Stores } from "../stores.ts";

const FALLBACK_CHANNEL = "whatsapp";

const NO_ROUTE =
  "The main session has no route yet: set `session.main`, or one with `signalbox route set CHANNEL TO`. " +
  `Until then it is ${FALLBACK_CHANNEL}, which is not configured.`;

export interface DeliverySettings {
  /** Where the main session's replies go before a delivery or an operator gave it another route. */
  readonly firstRoute: ReplyTarget | null;
  /** The channels that are configured. */
  readonly channels: ReadonlySet<string>;
}

/** A reply, and where the sender of the request wants it: `channel` may be `last`. */
export interface WantedDelivery {
  readonly _id: string;
  readonly runId: string | null;
  readonly channel: string;
  readonly to: string | null;
  readonly text: string;
}

/** A delivery that is to be put on the queue of its channel, or that has failed at once, with the reason. */
export interface AddedDelivery {
  readonly deliveryId: string;
  readonly channel: string;
  readonly fault: string | null;
}

/**
 * Notes where a reply goes. One that can go nowhere, because its channel is not configured or no recipient is known, has
 * failed at once and says why. One that has been noted goes where it was to go then: the route may be another by now.
 * @throws AppError unavailable
 */
export async function addDelivery(
  { deliveries, sessions }: Stores,
  wanted: WantedDelivery,
  settings: DeliverySettings,
): Promise<AddedDelivery> {
  const route = (await sessions.route()) ?? settings.firstRoute;
  const channel = wanted.channel === "last" ? (route?.channel ?? FALLBACK_CHANNEL) : wanted.channel;
  const to = wanted.to?.trim() || recipientOn(channel, route);
  const isUnrouted = wanted.channel === "last" && !route && !settings.channels.has(channel);
  const fault = isUnrouted ? NO_ROUTE : deliveryFault(channel, to, settings.channels);
  if (await deliveries.add({ ...wanted, channel, to, fault })) return { deliveryId: wanted._id, channel, fault };
  const noted = await deliveries.find(wanted._id);
  return { deliveryId: wanted._id, channel: noted.channel, fault: noted.state === "failed" ? noted.reason : null };
}

/** Whom the main session's route leads to, where it is on this channel. */
export const recipientOn = (channel: string, route: ReplyTarget | null): string | null =>
  (route?.channel === channel && route.to.trim()) || null;

/** Why nothing can be delivered so; null when it can be tried. */
export function deliveryFault(channel: string, to: string | null, channels: ReadonlySet<string>): string | null {
  if (!channels.has(channel)) return unconfigured(channel);
  if (to === null) return "No recipient is known: give `to`, or set the main session's route.";
  return null;
}

export const unconfigured = (channel: string): string =>
  `The channel ${channel} is not configured: add channels.${channel}.`;
