import { type Command, Option } from "commander";
import { CHANNELS } from "../../../shared/channelNames.ts";
import type { DeliveryFilter } from "../../commands/deliveries/deliveries.ts";
import type { ListOptions } from "../../commands/list.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { choicesOption, listCommand, serviceCommand } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `deliveries …` */
export function addDeliveries(program: Command, environment: Environment): void {
  const deliveries = program
    .command("deliveries")
    .description("List, retry and cancel deliveries of replies and events.");
  withExamples(deliveries, "signalbox deliveries list --state failed");

  const list = deliveries
    .command("list")
    .description("List deliveries, newest first.")
    .addOption(choicesOption("--state <state>", "only deliveries in this state", ["pending", "sent", "failed"]))
    .addOption(new Option("--channel <channel>", "only deliveries to this channel").choices(CHANNELS))
    .addOption(new Option("--kind <kind>", "only deliveries of this kind").choices(["channel", "webhook", "wake"]))
    .option("--rule <rule>", "only deliveries of this rule of `notify`")
    .action(async (options: ServiceOptions & ListOptions & DeliveryFilter) => {
      const { listDeliveries } = await import("../../commands/deliveries/deliveries.ts");
      await listDeliveries(await environment(), options);
    });
  withExamples(listCommand(list), "signalbox deliveries list --state failed --rule ops");

  const descriptions = {
    retry: "Restart a failed delivery, or try a pending one now.",
    cancel: "Cancel a pending delivery.",
  } as const;
  for (const act of ["retry", "cancel"] as const) {
    const command = deliveries
      .command(act)
      .argument("<deliveryId>", "id of the delivery")
      .description(descriptions[act])
      .option("--json", "print the delivery as one line of JSON")
      .action(async (deliveryId: string, options: ServiceOptions & { json?: boolean }) => {
        const { actOnDelivery } = await import("../../commands/deliveries/deliveries.ts");
        await actOnDelivery(await environment(), deliveryId, act, options);
      });
    withExamples(serviceCommand(command), `signalbox deliveries ${act} 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77`);
  }
}
