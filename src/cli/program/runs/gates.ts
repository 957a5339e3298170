import { Argument, type Command } from "commander";
import type { GateAction, GateStatus } from "../../../client/client.ts";
import type { ListOptions } from "../../commands/list.ts";
import type { AnswerOptions } from "../../commands/runs/gates.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { choicesOption, jsonObject, listCommand, serviceCommand, wholeNumber } from "../arguments.ts";
import type { Environment } from "../environment.ts";
import { withExamples } from "../examples.ts";

/** `gates …` */
export function addGates(program: Command, environment: Environment): void {
  const gates = program.command("gates").description("List and answer the questions of jobs to people.");
  withExamples(gates, "signalbox gates list", "signalbox gates answer report-7 publish accept");

  const list = gates
    .command("list")
    .description("List gates, newest first: the open ones, or those in another status.")
    .addOption(
      choicesOption("--status <status>", "only gates in this status", ["open", "answered", "expired", "withdrawn"]),
    )
    .action(async (options: ServiceOptions & ListOptions & { status?: GateStatus[] }) => {
      const { listGates } = await import("../../commands/runs/gates.ts");
      await listGates(await environment(), options);
    });
  withExamples(listCommand(list), "signalbox gates list", "signalbox gates list --status answered --json");

  const answer = gates
    .command("answer")
    .argument("<jobId>", "id of the job")
    .argument("<key>", "key of the gate")
    .addArgument(new Argument("<action>", "the decision").choices(["accept", "decline", "cancel"]))
    .description(
      "Answer an open gate. The first answer counts. Without --revision, a terminal shows the question and asks first.",
    )
    .option("--content <json>", "the values that the gate asks for, as a JSON object", jsonObject)
    .option("--by <name>", "who answers (default: the name of your account on this machine)")
    .option(
      "--revision <n>",
      "REV of the question that you read in the list: another one is not answered",
      wholeNumber(1, Number.MAX_SAFE_INTEGER),
    )
    .option("--json", "print the gate as one line of JSON")
    .action(async (jobId: string, key: string, action: GateAction, options: ServiceOptions & AnswerOptions) => {
      const { answerGate } = await import("../../commands/runs/gates.ts");
      await answerGate(await environment(), { jobId, key, action }, options);
    });
  withExamples(
    serviceCommand(answer),
    "signalbox gates answer report-7 publish decline --revision 1",
    `signalbox gates answer report-7 publish accept --content '{"rows": 500}' --by Ann`,
  );
}
