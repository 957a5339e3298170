import { setTimeout as pause } from "node:timers/promises";
import type { Client, Delivery } from "../../../client/client.ts";

/** Interval of polling the delivery. */
const POLL_MS = 500;
/** Maximum deliveries of the rule or channel that can be newer than this one while a command waits for it. */
const NEWEST = 100;

/** Waits until the first attempt of a delivery has ended. @param filter the rule or the channel of the delivery */
export async function firstResult(
  client: Client,
  filter: { readonly rule: string } | { readonly channel: string },
  deliveryId: string,
  signal: AbortSignal,
): Promise<Delivery> {
  for (;;) {
    const { deliveries } = await client.deliveries.list({ ...filter, limit: NEWEST }, { signal });
    const found = deliveries.find((one) => one.deliveryId === deliveryId);
    if (found && (found.state !== "pending" || found.reason !== null)) return found;
    await pause(POLL_MS, undefined, { signal });
  }
}
