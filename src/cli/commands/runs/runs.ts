import { describeMissing } from "../../../client/calls/hookRequests.ts";
import { pageCalls } from "../../../client/calls/page.ts";
import type { Delivery, Run, RunRequest, RunStatus, Usage, WaitsFor } from "../../../client/client.ts";
import { choicesOption, given, timeOrAge } from "../../arguments.ts";
import { type Define, type JsonOptions, listCommand, serviceCommand, withExamples } from "../../command.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson } from "../../terminal/cleanText.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { age, duration, formatOf, print, rowLines, section } from "../../terminal/words.ts";
import { DELIVERY_COLUMNS } from "../deliveries/deliveries.ts";
import { type ListOptions, printList } from "../list.ts";
import { followRun } from "./followRun.ts";

const COLUMNS: readonly Column<Run>[] = [
  { title: "RUN ID", of: ({ runId }) => runId, optional: true },
  { title: "KIND", of: ({ kind }) => kind },
  { title: "NAME", of: ({ name }) => name, instead: ({ runId }) => runId, least: 8 },
  { title: "STATUS", of: ({ status }) => status, format: ({ status }) => formatOf(status) },
  { title: "AGE", of: ({ createdAt }) => age(createdAt), right: true },
  { title: "SESSION", of: ({ sessionKey }) => sessionKey, optional: true },
  { title: "ERROR", of: ({ error }) => error && `${error.code}: ${error.message}`, least: 8 },
];

const STATES = [
  "queued",
  "waiting",
  "running",
  "completed",
  "failed",
  "dropped",
] as const satisfies readonly RunStatus[];

interface RunFilter {
  readonly status?: readonly RunStatus[];
  readonly session?: string;
  readonly mapping?: string;
  readonly search?: string;
  readonly createdFrom?: string;
  readonly createdBefore?: string;
}

/** `runs list`: prints runs, newest first. */
export const listRuns: Define = (command, environment) =>
  withExamples(
    listCommand(
      command
        .addOption(choicesOption("--status <status>", "only runs in this status", STATES))
        .option("--session <key>", "only runs in this session")
        .option("--mapping <name>", "only runs that this mapping made")
        .option("--search <text>", "only runs with these words in the name, or whose id starts with this text")
        .option(
          "--created-from <time>",
          "only runs accepted at this time or later, such as 2026-03-01, yesterday or 2h",
          timeOrAge,
        )
        .option("--created-before <time>", "only runs accepted before this time", timeOrAge),
    ),
    "signalbox runs list --status failed",
    "signalbox runs list --session incidents --json",
    "signalbox runs list --mapping github --created-from yesterday",
    "signalbox runs list --search 'pull request 41'",
  ).action(async (options: ServiceOptions & ListOptions & RunFilter) => {
    const { status, session: sessionKey, mapping, search, createdFrom, createdBefore } = options;
    const filter = given({ status, sessionKey, mapping, search, createdFrom, createdBefore });
    return printList(await environment(), options, {
      read: (client, page) => client.runs.list({ ...filter, ...page }),
      rowsOf: ({ runs }) => runs,
      columns: COLUMNS,
      nothing: "No runs match.",
    });
  });

/** `runs get ID` */
export const getRun: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command
        .argument("<runId>", "id of the run")
        .option("--request", "include the webhook request and the prompt")
        .option("--follow", "show the run while it works, then print its reply, as runs watch does")
        .option("--json", "print one line of JSON"),
    ),
    "signalbox runs get 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77 --request",
  ).action(async (runId: string, options: JsonOptions & { readonly request?: boolean; readonly follow?: boolean }) =>
    withService(await environment(), options, async (service) => {
      const { client } = service;
      const run = await client.runs.get(runId);
      if (options.follow) return followRun(service, runId, options);
      const request = options.request ? await client.runs.request(runId) : undefined;
      if (options.json) print([cleanJson({ ...run, ...request })]);
      else print([...runLines(run), ...(request ? requestLines(request) : [])]);
    }),
  );

/** `runs retry ID`, `runs again ID` and `runs cancel ID` */
export const actOnRun =
  (act: "retry" | "again" | "cancel"): Define =>
  (command, environment) =>
    withExamples(
      serviceCommand(
        command.argument("<runId>", "id of the run").option("--json", "print the run as one line of JSON"),
      ),
      `signalbox runs ${act} 0198c2b4-7a10-7c3e-9d6f-2f8f3b1c5e77`,
    ).action(async (runId: string, options: JsonOptions) =>
      withService(await environment(), options, async ({ client }) => {
        const run = await (act === "again" ? pageCalls(client.call).runAgain(runId) : client.runs[act](runId));
        print(options.json || isReceipt(run) ? [cleanJson(run)] : runLines(run));
      }),
    );

/** Returns whether a run lacks its other fields, because the token may not read runs. */
const isReceipt = (run: Partial<Run>): boolean => run.deliveries === undefined;

/** Returns usage such as `1840 input tokens (1024 cached), 212 output tokens, $0.0412`; null if nothing was reported. */
function usageText(usage: Usage | null): string | null {
  if (!usage) return null;
  const tokens = (count: number | null, what: string, part: number | null, ofPart: string) =>
    count === null ? [] : [`${count} ${what} tokens${part === null ? "" : ` (${part} ${ofPart})`}`];
  return [
    ...tokens(usage.inputTokens, "input", usage.cachedInputTokens, "cached"),
    ...tokens(usage.outputTokens, "output", usage.reasoningTokens, "reasoning"),
    ...(usage.costUsd === null ? [] : [`$${usage.costUsd}`]),
  ].join(", ");
}

function runLines(run: Run): string[] {
  const { kind, name, sessionKey, status, attempts, error, createdAt, startedAt, endedAt, deliveries, reply } = run;
  const took = startedAt && endedAt && duration(Date.parse(endedAt) - Date.parse(startedAt));
  return [
    ...rowLines([
      ["Run", run.runId],
      ["Kind", kind],
      ["Name", name],
      ["Session", sessionKey],
      ["Agent", run.agentId],
      ["Status", status],
      ["Waits for", run.waitsFor ? waitsForText(run.waitsFor) : null],
      ["Error", error && `${error.code}: ${error.message}`],
      ["Note", describeMissing(run.missingValues)],
      ["Request", run.requestId],
      ["Replay of", run.replayOf],
      ["Rerun of", run.againOf],
      ["Tries", String(attempts)],
      ["Usage", usageText(run.usage)],
      ["Accepted", `${createdAt} (${age(createdAt)} ago)`],
      ["Ended", endedAt && `${endedAt}${took ? ` (took ${took})` : ""}`],
    ]),
    ...section(run.replyCutOff ? "Reply (cut off: the model reached its length limit)" : "Reply", reply),
    ...section("Standard error", run.stderr ?? null),
    ...deliveryLines(deliveries),
  ];
}

function waitsForText({ kind, runId, notBefore }: WaitsFor): string {
  if (kind === "run") return `run ${runId} of the same session`;
  if (kind === "answer") return `the answer to the question on the job ${runId}`;
  if (kind === "time") return `the next attempt at ${notBefore}`;
  return kind === "session" ? "another turn in its session" : "a free worker";
}

const deliveryLines = (deliveries: readonly Delivery[]): string[] =>
  deliveries.length > 0 ? ["", ...tableLines(deliveries, DELIVERY_COLUMNS)] : [];

function requestLines({ request, call }: RunRequest): string[] {
  const { message, instructions, ...settings } = request ?? {};
  const rows = Object.entries(settings).filter(([, value]) => value !== null && value !== undefined);
  return [
    ...section("Prompt", message),
    ...section("Instructions", instructions),
    ...(rows.length > 0 ? ["", ...rowLines(rows.map(([name, value]) => [name, String(value)] as const))] : []),
    ...section("Request", call?.payload === null ? notKept(call.mapping) : call),
  ];
}

const notKept = (mapping: string) =>
  `A webhook for the mapping ${mapping}. Its body is deleted after the mapping has been applied.`;
