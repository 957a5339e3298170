import type { Delivery, DeliveryKind, DeliveryState } from "../../../client/client.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson } from "../../terminal/cleanText.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { age, formatOf, print } from "../../terminal/words.ts";
import { type ListOptions, printList } from "../list.ts";

export const DELIVERY_COLUMNS: readonly Column<Delivery>[] = [
  { title: "DELIVERY ID", of: ({ deliveryId }) => deliveryId, optional: true },
  { title: "EVENT", of: ({ eventType }) => eventType },
  { title: "RULE", of: ({ rule }) => rule },
  { title: "CHANNEL", of: ({ channel }) => channel },
  { title: "TO", of: ({ to }) => to, least: 8 },
  { title: "STATE", of: ({ state }) => state, format: ({ state }) => formatOf(state) },
  { title: "STATUS", of: ({ lastStatus }) => lastStatus?.toString() ?? null, right: true },
  { title: "TRIES", of: ({ attempts }) => String(attempts), right: true },
  { title: "AGE", of: ({ createdAt }) => age(createdAt), right: true },
  { title: "TEXT", of: ({ preview }) => preview, least: 8 },
  { title: "REASON", of: ({ reason }) => reason, least: 8 },
];

/** The options that select deliveries. */
export interface DeliveryFilter {
  readonly state?: readonly DeliveryState[];
  readonly channel?: string;
  readonly kind?: DeliveryKind;
  /** The id of a rule. */
  readonly rule?: string;
}

/** `deliveries list`: prints deliveries, newest first. */
export function listDeliveries(
  env: NodeJS.ProcessEnv,
  options: ServiceOptions & ListOptions & DeliveryFilter,
): Promise<void> {
  const { state, channel, kind, rule } = options;
  const given = Object.entries({ state, channel, kind, rule }).filter(([, value]) => value !== undefined);
  const filter: DeliveryFilter = Object.fromEntries(given);
  return withService(env, options, ({ client }) =>
    printList<Delivery>(
      options,
      async (page) => {
        const { deliveries, nextCursor } = await client.deliveries.list({ ...filter, ...page });
        return { rows: deliveries, nextCursor };
      },
      DELIVERY_COLUMNS,
      "No deliveries match.",
    ),
  );
}

/** `deliveries retry ID` and `deliveries cancel ID` */
export function actOnDelivery(
  env: NodeJS.ProcessEnv,
  deliveryId: string,
  act: "retry" | "cancel",
  options: ServiceOptions & { readonly json?: boolean },
): Promise<void> {
  return withService(env, options, async ({ client }) => {
    const delivery = await client.deliveries[act](deliveryId);
    const isReceipt = (delivery as Partial<Delivery>).channel === undefined; // the token may not read deliveries
    print(options.json || isReceipt ? [cleanJson(delivery)] : tableLines([delivery], DELIVERY_COLUMNS));
  });
}
