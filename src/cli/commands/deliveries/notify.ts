import type { Expectation, NotifyRule } from "../../../client/client.ts";
import { type Define, type JsonOptions, serviceCommand, withExamples } from "../../command.ts";
import { withService } from "../../service.ts";
import { cleanJson } from "../../terminal/cleanText.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { age, formatOf, print } from "../../terminal/words.ts";
import { printNote } from "../list.ts";
import { printTest } from "./firstResult.ts";

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
  { title: "EVERY", of: ({ every, cron, grace }) => `${every ?? cron}${grace === null ? "" : ` + ${grace}`}` },
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
export const listRules: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command
        .option("--wide", "do not truncate any column of the tables")
        .option("--json", "print one line of JSON with all rules and expectations"),
    ),
    "signalbox notify list",
  ).action(async (options: JsonOptions & { readonly wide?: boolean }) =>
    withService(await environment(), options, async ({ client }) => {
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
    }),
  );

/** `notify test RULE`: sends a test. With `wait` it then waits for the result of the first attempt. */
export const testRule: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command
        .argument("<rule>", "id of the rule")
        .option("--wait", "wait for the first attempt and print its result; exits with 1 unless it was sent")
        .option("--json", "print the delivery as one line of JSON"),
    ),
    "signalbox notify test ops --wait",
  ).action(async (ruleId: string, options: JsonOptions & { readonly wait?: boolean }) =>
    withService(await environment(), options, async ({ client }) => {
      const { deliveryId } = await client.notify.test(ruleId);
      return printTest(client, { rule: ruleId }, deliveryId, options);
    }),
  );
