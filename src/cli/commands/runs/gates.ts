import { userInfo } from "node:os";
import { Argument } from "commander";
import type { FreeObject, Gate, GateAction, GateStatus } from "../../../client/client.ts";
import { choicesOption, jsonObject, wholeNumber } from "../../arguments.ts";
import { type Define, type JsonOptions, listCommand, serviceCommand, withExamples } from "../../command.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanText } from "../../terminal/cleanText.ts";
import { canConfirm, confirm } from "../../terminal/confirm.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { age, formatOf, printRecord } from "../../terminal/words.ts";
import { type ListOptions, printList } from "../list.ts";

const COLUMNS: readonly Column<Gate>[] = [
  { title: "JOB ID", of: ({ jobId }) => jobId, optional: true },
  { title: "KEY", of: ({ key }) => key },
  { title: "QUESTION", of: ({ title }) => title, least: 12 },
  { title: "STATUS", of: ({ status }) => status, format: ({ status }) => formatOf(status) },
  { title: "ACTION", of: ({ action }) => action },
  { title: "BY", of: ({ answeredBy }) => answeredBy, least: 6 },
  { title: "REV", of: ({ revision }) => String(revision), right: true, optional: true },
  { title: "AGE", of: ({ createdAt }) => age(createdAt), right: true },
];

interface AnswerOptions extends JsonOptions {
  readonly content?: FreeObject;
  readonly by?: string;
  readonly revision?: number;
}

/** `gates list`: prints gates, newest first; the open ones unless a status is given. */
export const listGates: Define = (command, environment) =>
  withExamples(
    listCommand(
      command.addOption(
        choicesOption("--status <status>", "only gates in this status", ["open", "answered", "expired", "withdrawn"]),
      ),
    ),
    "signalbox gates list",
    "signalbox gates list --status answered --json",
  ).action(async (options: ServiceOptions & ListOptions & { readonly status?: readonly GateStatus[] }) => {
    const { status = ["open"] } = options;
    return printList(await environment(), options, {
      read: (client, page) => client.gates.list({ status, ...page }),
      rowsOf: ({ gates }) => gates,
      columns: COLUMNS,
      nothing: options.status ? "No gates match." : "No gate waits for an answer.",
    });
  });

/**
 * `gates answer JOB KEY ACTION`: answers the question of the given revision. Without one, it shows the question at a terminal
 * and asks; a program answers whatever is asked.
 */
export const answerGate: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command
        .argument("<jobId>", "id of the job")
        .argument("<key>", "key of the gate")
        .addArgument(new Argument("<action>", "the decision").choices(["accept", "decline", "cancel"]))
        .option("--content <json>", "the values that the gate asks for, as a JSON object", jsonObject)
        .option("--by <name>", "who answers (default: the name of your account on this machine)")
        .option(
          "--revision <n>",
          "REV of the question that you read in the list: another one is not answered",
          wholeNumber(1, Number.MAX_SAFE_INTEGER),
        )
        .option("--json", "print the gate as one line of JSON"),
    ),
    "signalbox gates answer report-7 publish decline --revision 1",
    `signalbox gates answer report-7 publish accept --content '{"rows": 500}' --by Ann`,
  ).action(async (jobId: string, key: string, action: GateAction, options: AnswerOptions) => {
    const content = options.content && { content: options.content };
    const answeredBy = options.by ?? userInfo().username;
    return withService(await environment(), options, async ({ client }) => {
      const shown = options.revision === undefined && canConfirm() ? await client.gates.get(jobId, key) : undefined;
      if (shown?.status === "open") await confirmAnswer(shown, action);
      const revision = options.revision ?? shown?.revision;
      const gate = await client.gates.answer(jobId, key, {
        action,
        ...content,
        answeredBy,
        ...(revision !== undefined && { revision }),
      });
      printRecord(options, gate, tableLines([gate], COLUMNS));
    });
  });

async function confirmAnswer({ title, message }: Gate, action: GateAction): Promise<void> {
  for (const text of [title, message]) if (text) process.stderr.write(`${cleanText(text)}\n`);
  await confirm(`Answer with ${action}?`, "Nothing was answered.");
}
