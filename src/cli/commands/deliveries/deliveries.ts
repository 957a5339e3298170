import { Option } from "commander";
import type { Delivery, DeliveryKind, DeliveryState } from "../../../client/client.ts";
import { CHANNELS } from "../../../shared/channelNames.ts";
import { choicesOption, given } from "../../arguments.ts";
import { type Define, type JsonOptions, listCommand, serviceCommand, withExamples } from "../../command.ts";
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

interface DeliveryFilter {
  readonly state?: readonly DeliveryState[];
  readonly channel?: string;
  readonly kind?: DeliveryKind;
  /** The id of a rule. */
  readonly rule?: string;
}

/** `deliveries list`: prints deliveries, newest first. */
export const listDeliveries: Define = (command, environment) =>
  withExamples(
    listCommand(
      command
        .addOption(choicesOption("--state <state>", "only deliveries in this state", ["pending", "sent", "failed"]))
        .addOption(new Option("--channel <channel>", "only deliveries to this channel").choices(CHANNELS))
        .addOption(new Option("--kind <kind>", "only deliveries of this kind").choices(["channel", "webhook", "wake"]))
        .option("--rule <rule>", "only deliveries of this rule of `notify`"),
    ),
    "signalbox deliveries list --state failed --rule ops",
  ).action(async (options: ServiceOptions & ListOptions & DeliveryFilter) => {
    const { state, channel, kind, rule } = options;
    const filter = given({ state, channel, kind, rule });
    return printList(await environment(), options, {
      read: (client, page) => client.deliveries.list({ ...filter, ...page }),
      rowsOf: ({ deliveries }) => deliveries,
      columns: DELIVERY_COLUMNS,
      nothing: "No deliveries match.",
    });
  });

/** `deliveries retry ID` and `deliveries cancel ID` */
export const actOnDelivery =
  (act: "retry" | "cancel"): Define =>
  (command, environment) =>
    withExamples(
      serviceCommand(
        command
          .argument("<deliveryId>", "id of the delivery")
          .option("--json", "print the delivery as one line of JSON"),
      ),
      `signalbox deliveries ${act} 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77`,
    ).action(async (deliveryId: string, options: JsonOptions) =>
      withService(await environment(), options, async ({ client }) => {
        const delivery = await client.deliveries[act](deliveryId);
        const isReceipt = (delivery as Partial<Delivery>).channel === undefined; // the token may not read deliveries
        print(options.json || isReceipt ? [cleanJson(delivery)] : tableLines([delivery], DELIVERY_COLUMNS));
      }),
    );
