import type { Delivery, Run, RunRequest, RunStatus } from "../../client/client.ts";
import { type ServiceOptions, withService } from "../service.ts";
import { cleanJson } from "../terminal/cleanText.ts";
import { type Column, tableLines } from "../terminal/table.ts";
import { age, duration, formatOf, print, rowLines, section } from "../terminal/words.ts";
import { DELIVERY_COLUMNS } from "./deliveries.ts";
import { type ListOptions, printList } from "./list.ts";

const COLUMNS: readonly Column<Run>[] = [
  { title: "RUN ID", of: ({ runId }) => runId, optional: ({ name }) => name !== null },
  { title: "KIND", of: ({ kind }) => kind },
  { title: "NAME", of: ({ name }) => name, least: 8 },
  { title: "STATUS", of: ({ status }) => status, format: ({ status }) => formatOf(status) },
  { title: "AGE", of: ({ createdAt }) => age(createdAt), right: true },
  { title: "SESSION", of: ({ sessionKey }) => sessionKey, least: 8 },
  { title: "ERROR", of: ({ error }) => error && `${error.code}: ${error.message}`, least: 8 },
];

/** `runs list`: prints runs, newest first. */
export function listRuns(
  env: NodeJS.ProcessEnv,
  options: ServiceOptions & ListOptions & { readonly status?: readonly RunStatus[]; readonly session?: string },
): Promise<void> {
  const { status, session } = options;
  const filter = { ...(status && { status }), ...(session !== undefined && { sessionKey: session }) };
  return withService(env, options, ({ client }) =>
    printList<Run>(
      options,
      async (page) => {
        const { runs, nextCursor } = await client.runs.list({ ...filter, ...page });
        return { rows: runs, nextCursor };
      },
      COLUMNS,
      "No runs match.",
    ),
  );
}

/** `runs get ID` */
export function getRun(
  env: NodeJS.ProcessEnv,
  runId: string,
  options: ServiceOptions & { readonly request?: boolean; readonly json?: boolean },
): Promise<void> {
  return withService(env, options, async ({ client }) => {
    const run = await client.runs.get(runId);
    const request = options.request ? await client.runs.request(runId) : undefined;
    if (options.json) print([cleanJson({ ...run, ...request })]);
    else print([...runLines(run), ...(request ? requestLines(request) : [])]);
  });
}

/** `runs retry ID` and `runs cancel ID` */
export function actOnRun(
  env: NodeJS.ProcessEnv,
  runId: string,
  act: "retry" | "cancel",
  options: ServiceOptions & { readonly json?: boolean },
): Promise<void> {
  return withService(env, options, async ({ client }) => {
    const run = await client.runs[act](runId);
    print(options.json ? [cleanJson(run)] : runLines(run));
  });
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
      ["Status", status],
      ["Error", error && `${error.code}: ${error.message}`],
      ["Tries", String(attempts)],
      ["Accepted", `${createdAt} (${age(createdAt)} ago)`],
      ["Ended", endedAt && `${endedAt}${took ? ` (took ${took})` : ""}`],
    ]),
    ...section(run.replyCutOff ? "Reply (cut off: the model reached its length limit)" : "Reply", reply),
    ...deliveryLines(deliveries),
  ];
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
