import type { Expectation, NotifyRule } from "../../../client/client.ts";
import { EXIT } from "../../exit.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson, cleanLine } from "../../terminal/cleanText.ts";
import { untilInterrupted } from "../../terminal/interrupt.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { age, formatOf, print, rowLines } from "../../terminal/words.ts";
import { printNote } from "../list.ts";
import { firstResult } from "../service/firstResult.ts";
import { DELIVERY_COLUMNS } from "./deliveries.ts";

const RULE_COLUMNS: readonly Column<NotifyRule>[] = [
  { title: "RULE", of: ({ ruleId }) => ruleId },
  { title: "ON", of: ({ on }) => on.join(" "), least: 12 },
  { title: "TO", of: ({ to }) => targetOf(to), least: 12 },
  { title: "LAST EVENT", of: ({ lastEvent }) => lastEvent?.type ?? null },
  { title: "AGE", of: ({ lastEvent }) => lastEvent && age(lastEvent.at), right: true },
  {
    title: "STATE",
    of: ({ latestDeliveries: [last] }) => last?.state ?? null,
    format: ({ latestDeliveries: [last] }) => formatOf(last?.state ?? ""),
  },
  { title: "FAILED", of: ({ failed }) => (failed > 0 ? `${failed} in 24 h` : ""), format: () => "red" },
];

const EXPECTATION_COLUMNS: readonly Column<Expectation>[] = [
  { title: "EXPECTATION", of: ({ expectationId }) => expectationId },
  { title: "NAME", of: ({ name }) => name, least: 8 },
  { title: "EVERY", of: ({ every, grace }) => (grace === null ? every : `${every} + ${grace}`) },
  { title: "LAST SEEN", of: ({ lastSeenAt }) => (lastSeenAt === null ? "never" : `${age(lastSeenAt)} ago`) },
  { title: "NEXT DUE", of: ({ nextDueAt }) => nextDueAt },
  {
    title: "NOW",
    of: ({ missedAt }) => (missedAt === null ? "" : `missing since ${age(missedAt)}`),
    format: () => "red",
  },
];

function targetOf({ kind, url, channel, to, wakeMode }: NotifyRule["to"]): string {
  if (kind === "webhook") return url ?? "";
  return kind === "wake" ? `wake ${wakeMode}` : [channel, to].filter(Boolean).join(" ");
}

/** `notify list`: prints the rules and the expectations of the service. */
export function listRules(
  env: NodeJS.ProcessEnv,
  options: ServiceOptions & { readonly wide?: boolean; readonly json?: boolean },
): Promise<void> {
  return withService(env, options, async ({ client }) => {
    const found = await client.notify.get();
    if (options.json) return print([cleanJson(found)]);
    const { rules, expectations } = found;
    if (rules.length === 0) printNote("There are no rules. Add one to `notify` in the configuration file.");
    else print(tableLines(rules, RULE_COLUMNS, { wide: options.wide }));
    if (expectations.length === 0) return;
    print([
      ...(rules.length > 0 ? [""] : []),
      ...tableLines(expectations, EXPECTATION_COLUMNS, { wide: options.wide }),
    ]);
  });
}

export type NotifyTestOptions = ServiceOptions & { readonly wait?: boolean; readonly json?: boolean };

/** `notify test RULE`: sends a test. With `wait` it then waits for the result of the first attempt. */
export function testRule(env: NodeJS.ProcessEnv, ruleId: string, options: NotifyTestOptions): Promise<void> {
  return withService(env, options, async ({ client }) => {
    const { deliveryId } = await client.notify.test(ruleId);
    if (!options.wait) return print(options.json ? [cleanJson({ deliveryId })] : rowLines([["Delivery", deliveryId]]));
    printNote(`delivery ${cleanLine(deliveryId)}`);
    await untilInterrupted(async (signal) => {
      const delivery = await firstResult(client, { rule: ruleId }, deliveryId, signal);
      if (delivery.state !== "sent") process.exitCode = EXIT.failed;
      print(options.json ? [cleanJson(delivery)] : tableLines([delivery], DELIVERY_COLUMNS));
    });
  });
}
