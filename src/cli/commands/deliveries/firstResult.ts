import { setTimeout as pause } from "node:timers/promises";
import type { Client, Delivery } from "../../../client/client.ts";
import { EXIT } from "../../exit.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { untilInterrupted } from "../../terminal/interrupt.ts";
import { tableLines } from "../../terminal/table.ts";
import { print, rowLines } from "../../terminal/words.ts";
import { printNote } from "../list.ts";
import { DELIVERY_COLUMNS } from "./deliveries.ts";

/** Interval of polling the delivery. */
const POLL_MS = 500;
/** Maximum deliveries of the rule or channel that can be newer than this one while a command waits for it. */
const NEWEST = 100;

/** The rule or the channel of a delivery. */
type Sender = { readonly rule: string } | { readonly channel: string };

/** Prints the id of a test delivery, or with `wait` the result of its first attempt. */
export async function printTest(
  client: Client,
  sender: Sender,
  deliveryId: string,
  { wait, json }: { readonly wait?: boolean; readonly json?: boolean },
): Promise<void> {
  if (!wait) return print(json ? [cleanJson({ deliveryId })] : rowLines([["Delivery", deliveryId]]));
  printNote(`delivery ${cleanLine(deliveryId)}`);
  await untilInterrupted(async (signal) => {
    const delivery = await firstResult(client, sender, deliveryId, signal);
    if (delivery.state !== "sent") process.exitCode = EXIT.failed;
    print(json ? [cleanJson(delivery)] : tableLines([delivery], DELIVERY_COLUMNS));
  });
}

/** Waits until the first attempt of a delivery has ended. */
export async function firstResult(
  client: Client,
  sender: Sender,
  deliveryId: string,
  signal: AbortSignal,
): Promise<Delivery> {
  for (;;) {
    const { deliveries } = await client.deliveries.list({ ...sender, limit: NEWEST }, { signal });
    const found = deliveries.find((one) => one.deliveryId === deliveryId);
    if (found && (found.state !== "pending" || found.reason !== null)) return found;
    await pause(POLL_MS, undefined, { signal });
  }
}
