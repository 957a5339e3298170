import { describeMissing, hookRequestCalls } from "../../../client/calls/hookRequests.ts";
import type { DryRun, HookRequest, HookRequestRow, RequestOutcome, RunPreview } from "../../../wire/hookRequest.ts";
import { choicesOption, given, timeOrAge, wholeNumber } from "../../arguments.ts";
import { type Define, type JsonOptions, listCommand, serviceCommand, withExamples } from "../../command.ts";
import { withService } from "../../service.ts";
import type { ServiceOptions } from "../../serviceAccess.ts";
import { cleanJson } from "../../terminal/cleanText.ts";
import { type Column, tableLines } from "../../terminal/table.ts";
import { age, formatOf, print, printRecord, rowLines, section } from "../../terminal/words.ts";
import { type ListOptions, printList, printNote } from "../list.ts";

const OUTCOMES: readonly RequestOutcome[] = ["accepted", "dropped", "failed", "filtered", "refused"];
const EXAMPLE_ID = "b4a0c1de-5a7e-4d63-9a45-3f1f1c0e7a21";

interface RequestFilter {
  readonly mapping?: string;
  readonly outcome?: readonly RequestOutcome[];
  readonly status?: number;
  readonly from?: string;
  readonly before?: string;
}

const signatureOf = ({ signature }: HookRequestRow): string | null =>
  signature && `${signature.type}: ${signature.verdict}`;

const COLUMNS: readonly Column<HookRequestRow>[] = [
  { title: "REQUEST ID", of: ({ requestId }) => requestId, optional: true },
  { title: "HOOK", of: ({ hook }) => hook, least: 8 },
  { title: "MAPPING", of: ({ mapping }) => mapping, least: 8 },
  { title: "OUTCOME", of: ({ outcome }) => outcome, format: ({ outcome }) => formatOf(outcome) },
  { title: "STATUS", of: ({ status }) => (status === null ? null : String(status)), right: true },
  { title: "SIGNATURE", of: signatureOf, least: 8 },
  { title: "RUNS", of: ({ runIds }) => String(runIds.length), right: true },
  { title: "AGE", of: ({ createdAt }) => age(createdAt), right: true },
  { title: "REASON", of: ({ reason }) => reason, least: 8, optional: true },
];

/** `hooks requests list`: prints kept requests, newest first. */
export const listRequests: Define = (command, environment) =>
  withExamples(
    listCommand(
      command
        .option("--mapping <name>", "only requests that this mapping took or filtered")
        .addOption(choicesOption("--outcome <outcome>", "only requests with this outcome", OUTCOMES))
        .option("--status <code>", "only requests that were answered with this HTTP status", wholeNumber(100, 599))
        .option("--from <time>", "only requests from this time on, such as 2026-01-31, yesterday or 2h", timeOrAge)
        .option("--before <time>", "only requests before this time", timeOrAge),
    ),
    "signalbox hooks requests list --outcome refused",
    "signalbox hooks requests list --mapping github --outcome filtered --json",
  ).action(async (options: ServiceOptions & ListOptions & RequestFilter) => {
    const { mapping, outcome, status, from, before } = options;
    const filter = given({ mapping, outcome, status, from, before });
    return printList(await environment(), options, {
      read: (client, page) => hookRequestCalls(client.call).list({ ...filter, ...page }),
      rowsOf: ({ requests }) => requests,
      columns: COLUMNS,
      nothing: "No requests match. Requests are kept while hooks.keepRequests is set.",
    });
  });

/** `hooks requests show ID` */
export const showRequest: Define = (command, environment) =>
  withExamples(
    serviceCommand(command.argument("<requestId>", "id of the request").option("--json", "print one line of JSON")),
    `signalbox hooks requests show ${EXAMPLE_ID}`,
  ).action(async (requestId: string, options: JsonOptions) =>
    withService(await environment(), options, async ({ client }) => {
      const request = await hookRequestCalls(client.call).get(requestId);
      printRecord(options, request, requestLines(request));
    }),
  );

function requestLines(request: HookRequest): string[] {
  const { requestId, hook, mapping, outcome, status, reason, address, contentType, bodyBytes, createdAt } = request;
  return [
    ...rowLines([
      ["Request", requestId],
      ["Hook", hook],
      ["Mapping", mapping],
      ["Outcome", request.repeated ? `${outcome} (repeats an earlier request)` : outcome],
      ["Status", status === null ? null : String(status)],
      ["Reason", reason],
      ["Signature", signatureOf(request)],
      ["Address", address],
      ["Arrived", `${createdAt} (${age(createdAt)} ago)`],
      ["Type", contentType],
      ["Size", bodyBytes === null ? null : `${bodyBytes} bytes`],
      ...request.jobIds.map((jobId) => ["Job", jobId] as const),
      ...request.runIds.map((runId) => ["Run", runId] as const),
    ]),
    ...section("Headers", request.headers),
    ...(Object.keys(request.query).length > 0 ? section("Query", request.query) : []),
    ...(request.body === null ? [] : section("Body", request.payload)),
  ];
}

type ReplayOptions = JsonOptions & { readonly mapping?: string; readonly dryRun?: boolean };

/** `hooks requests replay ID` */
export const replayRequest: Define = (command, environment) =>
  withExamples(
    serviceCommand(
      command
        .argument("<requestId>", "id of the request")
        .option("--mapping <name>", "mapping to apply (default: the first that matches)")
        .option("--dry-run", "only print what would start, without the transform of the mapping")
        .option("--json", "print one line of JSON"),
    ),
    `signalbox hooks requests replay ${EXAMPLE_ID}`,
    `signalbox hooks requests replay ${EXAMPLE_ID} --mapping triage --dry-run`,
  ).action(async (requestId: string, options: ReplayOptions) => {
    const chosen = options.mapping === undefined ? {} : { mapping: options.mapping };
    return withService(await environment(), options, async ({ client }) => {
      if (options.dryRun) {
        const result = await hookRequestCalls(client.call).dryRun(requestId, chosen);
        return printRecord(options, result, dryRunLines(result));
      }
      const replayed = await hookRequestCalls(client.call).replay(requestId, chosen);
      if (options.json) return print([cleanJson(replayed)]);
      if (replayed.runIds.length === 0) return printNote("The request starts no run: see it with --dry-run.");
      print(rowLines(replayed.runIds.map((runId) => ["Run", runId] as const)));
    });
  });

function dryRunLines({ mapping, reason, considered, transform, runCount, runs }: DryRun): string[] {
  return [
    ...rowLines([
      ["Mapping", mapping ?? "none matches"],
      ["Reason", reason],
      ["Transform", transform && `${transform} (not run: \`hooks test NAME --request ID\` runs it)`],
      ["Runs", String(runCount)],
    ]),
    "",
    ...tableLines(considered, [
      { title: "COMPARED", of: (one) => one.mapping },
      { title: "NOT MET", of: (one) => one.reason ?? "matches" },
    ]),
    ...runs.flatMap(previewLines),
  ];
}

function previewLines({ message, error, deliver, missingValues, ...preview }: RunPreview): string[] {
  const { kind, name, sessionKey, wakeMode, channel, to, model } = preview;
  return [
    "",
    ...rowLines([
      ["Kind", kind],
      ["Name", name],
      ["Session", kind && (sessionKey ?? "a new session")],
      ["Wake", wakeMode],
      ["Delivery", deliver === null ? null : deliver ? `${channel}${to === null ? "" : ` to ${to}`}` : "none"],
      ["Model", model],
      ["Note", describeMissing(missingValues)],
      ["Error", error && `${error.code}: ${error.message}`],
    ]),
    ...section("Message", message),
  ];
}
