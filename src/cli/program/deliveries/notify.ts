import type { Command } from "commander";
import type { NotifyTestOptions } from "../../commands/deliveries/notify.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { serviceCommand } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `notify …` */
export function addNotify(program: Command, environment: Environment): void {
  const notify = program.command("notify").description("List and test the rules that send events.");
  withExamples(notify, "signalbox notify list");

  const list = notify
    .command("list")
    .description("List rules with their latest event, and expectations.")
    .option("--wide", "do not truncate any column of the tables")
    .option("--json", "print one line of JSON with all rules and expectations")
    .action(async (options: ServiceOptions & { wide?: boolean; json?: boolean }) => {
      const { listRules } = await import("../../commands/deliveries/notify.ts");
      await listRules(await environment(), options);
    });
  withExamples(serviceCommand(list), "signalbox notify list");

  const test = notify
    .command("test")
    .argument("<rule>", "id of the rule")
    .description("Send the event `test` to the target of a rule.")
    .option("--wait", "wait for the first attempt and print its result; exits with 1 unless it was sent")
    .option("--json", "print the delivery as one line of JSON")
    .action(async (ruleId: string, options: NotifyTestOptions) => {
      const { testRule } = await import("../../commands/deliveries/notify.ts");
      await testRule(await environment(), ruleId, options);
    });
  withExamples(serviceCommand(test), "signalbox notify test ops --wait");
}
